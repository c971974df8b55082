package local

import (
	"context"

	"stepback/services/lambda/eventsource"
)

// openMappings opens the event source mappings of functions, which are carried out once everything else is there
// (resume).
func (p *Platform) openMappings(context.Context) (err error) {
	p.mappings, err = eventsource.Open(eventsource.Options{Store: p.Documents, Clock: p.Clock, Queues: p.Queues,
		Streams: p.Tables, Functions: p.Functions, Deliver: p.Targets.Deliver, Log: p.cfg.Log})
	return err
}
