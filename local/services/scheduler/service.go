package scheduler

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/jsonvalue"
	"stepback/local/services/delivery"
	"stepback/local/services/dispatch"
	"stepback/local/services/documents"
)

// Options are the settings of a Service. Store, Clock and Targets are required.
type Options struct {
	// Store holds all data.
	Store *documents.Store
	// Clock is the time source and runs the schedules. It must outlive the service.
	Clock *clock.Clock
	// Targets delivers the messages that schedules send.
	Targets *delivery.Targets
	// Call performs an action for a universal target, and returns an *aws.Error if the service refuses it. nil means
	// that there are no universal targets.
	Call func(ctx context.Context, scope aws.Scope, service, action string, input jsonvalue.Value) error
	// Check returns an error if Call cannot perform an action of a service.
	Check func(service, action string) error
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Log receives refused requests and dropped messages; nil discards them.
	Log *slog.Logger
}

// Service is the embedded EventBridge Scheduler. It is safe for concurrent use.
type Service struct {
	o     Options
	table *documents.Table
	mail  *dispatch.Dispatcher

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	groups map[groupKey]*group
	closed bool
}

// Open loads the data in the store. Call Resume to start schedules, and Close to stop.
func Open(o Options) (*Service, error) {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{o: o, table: o.Store.Table("scheduler"), groups: map[groupKey]*group{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.mail = dispatch.Open(dispatch.Options{Store: o.Store, Table: "scheduler-letters", Clock: o.Clock, Send: s.send,
		Letterbox: o.Targets.Deliver, BuriesInRole: true, DeadAttributes: deadAttributes, Log: o.Log, Lane: lane})
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("what is kept of schedules: %w", err)
	}
	return s, nil
}

// load reads all stored data.
func (s *Service) load() error {
	if err := s.table.Scan("group/", func(_ string, text []byte) error {
		g := &group{schedules: map[string]*entry{}}
		if err := json.Unmarshal(text, &g.groupRecord); err != nil {
			return err
		}
		s.groups[groupKey{g.scope(), g.Name}] = g
		return nil
	}); err != nil {
		return err
	}
	return s.table.Scan("schedule/", func(_ string, text []byte) error {
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		e, err := s.newEntry(r)
		if err != nil {
			return err
		}
		g, err := s.group(e.scope(), e.Group)
		if err != nil {
			return err
		}
		g.schedules[e.Name] = e
		_, err = getJSON(s.table, e.firedKey(), &e.fired)
		return err
	})
}

func getJSON(t *documents.Table, key string, v any) (bool, error) {
	text, found, err := t.Get(key)
	if err != nil || !found {
		return false, err
	}
	return true, json.Unmarshal(text, v)
}

// Resume delivers the messages that an earlier process left undelivered, and starts schedules. Register the targets
// before calling it.
func (s *Service) Resume() error {
	s.mu.Lock()
	for _, g := range s.groups {
		for _, e := range g.schedules {
			s.plan(e)
		}
	}
	s.mu.Unlock()
	return s.mail.Resume()
}

// Close stops schedules and deliveries. They resume when the store is opened again.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, g := range s.groups {
		for _, e := range g.schedules {
			e.unplan()
		}
	}
	s.mu.Unlock()
	s.stop()
	s.work.Wait()
	s.mail.Close()
	return nil
}

func (s *Service) now() time.Time { return s.o.Clock.Now() }

func (s *Service) keepJSON(key string, v any) error {
	return s.o.Store.Write(func(b *documents.Batch) error {
		text, err := json.Marshal(v)
		if err == nil {
			b.Put(s.table, key, text)
		}
		return err
	})
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{Model: "scheduler", Operations: s.operations(), Partly: partly,
		Default: s.o.Scope, Log: s.o.Log})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateScheduleGroup": server.Handle(s.createGroup),
		"GetScheduleGroup":    server.Handle(s.getGroup),
		"DeleteScheduleGroup": server.Handle(s.deleteGroup),
		"ListScheduleGroups":  server.Handle(s.listGroups),
		"CreateSchedule":      server.Handle(s.createSchedule).Reading(server.Within{"Target": target{}}),
		"GetSchedule":         server.Handle(s.getSchedule),
		"UpdateSchedule":      server.Handle(s.updateSchedule).Reading(server.Within{"Target": target{}}),
		"DeleteSchedule":      server.Handle(s.deleteSchedule),
		"ListSchedules":       server.Handle(s.listSchedules),
		"TagResource":         server.Handle(s.tagResource),
		"UntagResource":       server.Handle(s.untagResource),
		"ListTagsForResource": server.Handle(s.listTags),
	}
}

// none is the response of operations that return nothing.
type none struct{}

func refusal(code string, status int, format string, args ...any) error {
	return &aws.Error{Code: code, Message: fmt.Sprintf(format, args...), Status: status}
}

func notFound(format string, args ...any) error {
	return refusal("ResourceNotFoundException", 404, format, args...)
}

func conflict(format string, args ...any) error {
	return refusal("ConflictException", 409, format, args...)
}

func invalid(format string, args ...any) error {
	return refusal("ValidationException", 400, format, args...)
}

// paged holds the paging members of a request.
type paged struct {
	MaxResults int
	NextToken  string
}

// page returns one page of list, which must be sorted by name, and the token of the next page.
func page[T any](s *Service, p paged, request []string, list []T, name func(T) string) ([]T, string, error) {
	const usual = 100
	part, next, ok := aws.Page(aws.NewListing(s.now(), request...), p.NextToken, cmp.Or(p.MaxResults, usual),
		list, name)
	if !ok {
		return nil, "", invalid("Invalid NextToken.")
	}
	return part, next, nil
}

func timeOf(ms int64) server.Time {
	if ms == 0 {
		return server.Time{}
	}
	return server.Time(time.UnixMilli(ms).UTC())
}
