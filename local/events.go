package local

import (
	"context"
	"path/filepath"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/endpoint"
	"stepback/local/services/events"
	"stepback/local/services/kms"
	"stepback/local/services/stepfunctions/executions"
)

// openEvents opens EventBridge. Accepted events are resumed later, once everything else is open (Resume).
func (p *Platform) openEvents(context.Context) (err error) {
	p.Events, err = events.Open(events.Options{Store: p.Documents, Clock: p.Clock, Scope: p.Scope, Targets: &p.Targets,
		Secrets: kms.Secrets{Service: p.Keys, Context: "SecretARN"}, Vault: p.secrets.Managed("events"),
		Log: p.cfg.Log, Count: p.ruleCounts, Transport: p.cfg.Targets.Transport()})
	if err != nil {
		return err
	}
	p.onClose(p.Events.Close)
	p.offer(served{model: "eventbridge", about: "event buses, rules and their deliveries; in " + filepath.Join(p.Dir, "documents"),
		Service: endpoint.Service{Name: "EventBridge", Signing: "events", Target: "AWSEvents",
			Handler: lazily(p.Events.Handler)}})
	p.Targets.Register("events", p.Events)
	p.around.connections = p.Events
	return nil
}

// announceStatus sends EventBridge events when executions start and end.
func (p *Platform) announceStatus(x *journal.Execution, steps []history.Event) {
	scope := scopeOf(x.ARN)
	if p.Events == nil || !p.Events.Listens(scope) {
		return
	}
	for _, c := range executions.StatusChanges(x, steps) {
		p.Events.Announce(events.Announcement{Scope: scope, Source: executions.EventSource,
			DetailType: executions.StatusChangeEvent, At: c.At, Resources: []string{x.ARN}, Detail: c.Detail})
	}
}
