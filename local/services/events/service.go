package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/dispatch"
	"stepback/local/services/documents"
	"stepback/local/services/lanes"
)

// Options are the settings of a Service. Store, Clock and Targets are required.
type Options struct {
	// Store holds all data.
	Store *documents.Store
	// Clock is the time source, also for schedules and retries. It must outlive the service.
	Clock *clock.Clock
	// Targets delivers the messages that rules send. It includes this service only after the service's owner has
	// registered it.
	Targets *delivery.Targets
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Secrets encrypts the secrets of connections; if it is nil, connections cannot have secrets.
	Secrets Secrets
	// Vault stores the secrets of connections in Secrets Manager; nil means that they are not stored there.
	Vault Vault
	// Transport carries the requests of API destinations; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Count receives the AWS/Events metrics of the rules of a bus; nil discards them. It must return quickly.
	Count func(scope aws.Scope, bus, rule, metric string, n float64)
	// PerTarget bounds the messages that wait for one target; the default is that of package lanes.
	PerTarget lanes.Bound
	// Log receives refused requests and dropped messages; nil discards them.
	Log *slog.Logger
}

// Service is the embedded EventBridge. It is safe for concurrent use.
type Service struct {
	o     Options
	table *documents.Table
	// archives holds the archived events.
	archives *documents.Table
	mail     *dispatch.Dispatcher
	rates    rates
	tokens   tokens

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	announcing sync.Mutex
	announced  []arrival // waiting to be sent
	announcer  bool      // a goroutine is sending them
	silent     bool      // true once the service is closed

	mu     sync.RWMutex
	buses  map[busKey]*bus
	closed bool
	kept   map[string]*archive // by key
	// replaying holds the cancel functions of the active replays, by key.
	replaying map[string]context.CancelFunc
}

// Open loads the stored buses and rules. Resume starts schedules and delivers the messages that an earlier process
// left undelivered; Close stops both.
func Open(o Options) (*Service, error) {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{o: o, table: o.Store.Table("events"), archives: o.Store.Table("events-archived"),
		buses: map[busKey]*bus{}, kept: map[string]*archive{}, replaying: map[string]context.CancelFunc{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.mail = dispatch.Open(dispatch.Options{
		Store: o.Store, Table: "events-letters", Clock: o.Clock, Send: s.send, Letterbox: o.Targets.Deliver, Log: o.Log,
		Direct: direct, Died: s.countDropped, PerTarget: o.PerTarget,
	})
	if err := errors.Join(s.load(), s.sealAll(), s.share()); err != nil {
		return nil, fmt.Errorf("what is kept of events: %w", err)
	}
	return s, nil
}

// direct reports whether the target accepts messages immediately and durably.
func direct(arn string) bool {
	a, _ := aws.ParseARN(arn)
	return a.Service == "sqs"
}

// Resume delivers the messages that an earlier process accepted but did not deliver, and starts schedules. Register
// the targets before calling it.
func (s *Service) Resume() error {
	s.mu.Lock()
	for _, b := range s.buses {
		for _, r := range b.rules {
			s.plan(r)
		}
	}
	err := s.resumeReplays()
	s.mu.Unlock()
	return errors.Join(err, s.mail.Resume())
}

// Close stops schedules and deliveries. They resume when the store is opened again.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, b := range s.buses {
		for _, r := range b.rules {
			r.unplan()
		}
	}
	s.mu.Unlock()
	s.announcing.Lock()
	s.silent = true
	s.announcing.Unlock()
	s.stop()
	s.work.Wait()
	s.mail.Close()
	return nil
}

func (s *Service) now() time.Time { return s.o.Clock.Now() }

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model: "eventbridge", Operations: s.operations(), Partly: partly, Accepted: accepted, Default: s.o.Scope, Log: s.o.Log,
		Words: server.Words{Unchecked: []string{"ConnectionOAuthHttpMethod"}, Whole: map[string][]string{
			"PutEventsRequestEntry": {"kmsKeyIdentifier", "internalMetadata"},
		}},
	})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateEventBus":         server.Handle(s.createEventBus),
		"DescribeEventBus":       server.Handle(s.describeEventBus),
		"UpdateEventBus":         server.Handle(s.updateEventBus),
		"DeleteEventBus":         server.Handle(s.deleteEventBus),
		"ListEventBuses":         server.Handle(s.listEventBuses),
		"PutPermission":          server.Handle(s.putPermission),
		"RemovePermission":       server.Handle(s.removePermission),
		"PutRule":                server.Handle(s.putRule),
		"DescribeRule":           server.Handle(s.describeRule),
		"DeleteRule":             server.Handle(s.deleteRule),
		"EnableRule":             server.Handle(s.enableRule),
		"DisableRule":            server.Handle(s.disableRule),
		"ListRules":              server.Handle(s.listRules),
		"ListRuleNamesByTarget":  server.Handle(s.listRuleNamesByTarget),
		"PutTargets":             server.Handle(s.putTargets).Reading(server.Within{"Targets": targetSpec{}}),
		"RemoveTargets":          server.Handle(s.removeTargets),
		"ListTargetsByRule":      server.Handle(s.listTargetsByRule),
		"CreateConnection":       server.Handle(s.createConnection),
		"UpdateConnection":       server.Handle(s.updateConnection),
		"DeauthorizeConnection":  server.Handle(s.deauthorizeConnection),
		"DescribeConnection":     server.Handle(s.describeConnection),
		"DeleteConnection":       server.Handle(s.deleteConnection),
		"ListConnections":        server.Handle(s.listConnections),
		"CreateApiDestination":   server.Handle(s.createDestination),
		"UpdateApiDestination":   server.Handle(s.updateDestination),
		"DescribeApiDestination": server.Handle(s.describeDestination),
		"DeleteApiDestination":   server.Handle(s.deleteDestination),
		"ListApiDestinations":    server.Handle(s.listDestinations),
		"CreateArchive":          server.Handle(s.createArchive),
		"UpdateArchive":          server.Handle(s.updateArchive),
		"DescribeArchive":        server.Handle(s.describeArchive),
		"DeleteArchive":          server.Handle(s.deleteArchive),
		"ListArchives":           server.Handle(s.listArchives),
		"StartReplay":            server.Handle(s.startReplay),
		"DescribeReplay":         server.Handle(s.describeReplay),
		"CancelReplay":           server.Handle(s.cancelReplay),
		"ListReplays":            server.Handle(s.listReplays),
		"PutEvents":              s.putEventsOperation(),
		"TestEventPattern":       server.Handle(s.testEventPattern),
		"TagResource":            server.Handle(s.tagResource),
		"UntagResource":          server.Handle(s.untagResource),
		"ListTagsForResource":    server.Handle(s.listTagsForResource),
	}
}

// none is the response of operations that return nothing.
type none struct{}

func notFound(format string, args ...any) error {
	return &aws.Error{Code: "ResourceNotFoundException", Message: fmt.Sprintf(format, args...)}
}

func exists(format string, args ...any) error {
	return &aws.Error{Code: "ResourceAlreadyExistsException", Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return &aws.Error{Code: "ValidationException", Message: fmt.Sprintf(format, args...)}
}

// rejectUnsupported rejects requests that set a member which is not supported here.
func rejectUnsupported(members map[string]bool) error {
	for name, given := range members {
		if given {
			return invalid("Parameter %s is not supported here.", name)
		}
	}
	return nil
}

// paged holds the paging members of a request.
type paged struct {
	Limit     int
	NextToken string
}

// page returns one page of list, which must be sorted by name, and the token of the next page.
func page[T any](s *Service, p paged, request []string, list []T, name func(T) string) ([]T, string, error) {
	const usual = 100
	listing := aws.NewListing(s.now(), request...)
	part, next, ok := aws.Page(listing, p.NextToken, cmp.Or(p.Limit, usual), list, name)
	if !ok {
		return nil, "", invalid("Parameter NextToken is not valid.")
	}
	return part, next, nil
}

// isRefusal reports whether err is an error response for the client.
func isRefusal(err error) bool {
	var refused *aws.Error
	return errors.As(err, &refused)
}

// Pending returns the number of messages waiting for another delivery attempt.
func (s *Service) Pending() int { return s.mail.Pending() }

// accepted lists the members of requests that have no effect, and why.
var accepted = map[string]map[string]string{"": {"Force": "no service manages rules"}}
