package eventsource

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/jsonvalue"
	"stepback/local/services/eventpattern"
	"stepback/tasks/lambda/invocation"
)

const (
	// patience is the time for which a running batch holds virtual time.
	patience = 10 * time.Second
	// idle is the delay before a mapping checks again for a source or function that does not exist.
	idle = 10 * time.Second
	// maxPayload is the maximum size of the records of one invocation, in bytes.
	maxPayload = invocation.MaxRequestBytes - 1<<10
)

// The results of the last batch of a stream, as the API words them.
const (
	nothingYet = "No records processed"
	processed  = "OK"
	problem    = "PROBLEM: Function call failed"
	noSource   = "PROBLEM: Cannot read the event source"
)

// poller runs one mapping with the settings it had when the poller started.
type poller struct {
	service *Service
	mapping *Mapping
	filters []*eventpattern.Pattern
	before  *poller         // must end first
	ctx     context.Context //nolint:containedctx // it is the poller's life
	end     context.CancelFunc
	over    *clock.Bell // rings once it has ended

	mu   sync.Mutex
	last string
}

func newPoller(s *Service, m *Mapping, before *poller) *poller {
	p := &poller{service: s, mapping: m, before: before, over: s.o.Clock.NewBell(), last: nothingYet}
	p.filters, _ = compile(m.Filters) // validated before
	p.ctx, p.end = context.WithCancel(s.ctx)
	return p
}

// run reads the source until the mapping is changed or deleted, or the service is closed.
func (p *poller) run(ctx context.Context) {
	defer p.over.Ring()
	defer p.end()
	if p.before != nil {
		_ = p.before.over.Await(context.WithoutCancel(ctx)) // it has been stopped
		p.before = nil
	}
	if p.mapping.ofStream() {
		p.readStream(ctx)
	} else {
		p.readQueue(ctx)
	}
}

func (p *poller) lastResult() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *poller) note(result string) {
	p.mu.Lock()
	p.last = result
	p.mu.Unlock()
}

// pause waits for d without advancing virtual time. The error is ctx's.
func (p *poller) pause(ctx context.Context, d time.Duration) error {
	c := p.service.o.Clock
	b := c.NewBell()
	t := c.ScheduleInBackground(c.Now().Add(d), b)
	err := b.Await(ctx)
	t.Stop()
	return err
}

// outliving returns a context for an invocation. It ends with the service, not with the mapping.
func (p *poller) outliving(ctx context.Context) (context.Context, func()) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(p.service.ctx, cancel)
	return own, func() {
		stop()
		cancel()
	}
}

// invoke invokes the function with records.
func (p *poller) invoke(ctx context.Context, records []json.RawMessage) (*invocation.Answer, error) {
	payload, err := json.Marshal(struct{ Records []json.RawMessage }{records})
	if err != nil {
		return nil, err
	}
	return p.service.o.Functions.Invoke(ctx, p.mapping.Scope, &invocation.Request{FunctionName: p.mapping.FunctionArn,
		Payload: payload, Valid: true})
}

// matches reports whether a record passes the filters. If body is valid JSON, it replaces the record's body for
// matching.
func (p *poller) matches(record json.RawMessage, body string) bool {
	if len(p.filters) == 0 {
		return true
	}
	if body != "" && json.Valid([]byte(body)) {
		var members map[string]json.RawMessage
		if json.Unmarshal(record, &members) == nil {
			members["body"] = json.RawMessage(body)
			if changed, err := json.Marshal(members); err == nil {
				record = changed
			}
		}
	}
	v, err := jsonvalue.Parse(string(record))
	if err != nil {
		return false
	}
	for _, f := range p.filters {
		if f.Match(v) {
			return true
		}
	}
	return false
}

// backoff returns the delay after a number of failures: from one second to one minute.
func backoff(failures int) time.Duration {
	const longest, doublings = time.Minute, 6
	return min(time.Second<<min(failures, doublings), longest)
}

// gone reports whether err means that a function or source does not exist.
func gone(err error) bool {
	var refused *aws.Error
	return errors.As(err, &refused) && !refused.ByServer() && refused.Code != "TooManyRequestsException"
}
