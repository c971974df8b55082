package logs

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/logs/logstore"
)

type startLiveTailRequest struct {
	Groups   []string `json:"logGroupIdentifiers"`
	Streams  []string `json:"logStreamNames"`
	Prefixes []string `json:"logStreamNamePrefixes"`
	Pattern  string   `json:"logEventFilterPattern"`
}

// sessionStart is the first event of a session.
type sessionStart struct {
	RequestID string   `json:"requestId"`
	SessionID string   `json:"sessionId"`
	Groups    []string `json:"logGroupIdentifiers"`
	Streams   []string `json:"logStreamNames"`
	Prefixes  []string `json:"logStreamNamePrefixes"`
	Pattern   string   `json:"logEventFilterPattern"`
}

// sessionUpdate contains the events that were appended since the last update.
type sessionUpdate struct {
	Metadata struct {
		Sampled bool `json:"sampled"`
	} `json:"sessionMetadata"`
	Results []tailedEvent `json:"sessionResults"`
}

type tailedEvent struct {
	Stream    string `json:"logStreamName"`
	Group     string `json:"logGroupIdentifier"` // ACCOUNT:NAME
	Message   string `json:"message"`
	Time      int64  `json:"timestamp"`
	Ingestion int64  `json:"ingestionTime"`
}

// The limits of Live Tail sessions.
const (
	tailInterval = time.Second
	tailTimeout  = 3 * time.Hour
	mostInUpdate = 500
	mostTailed   = 5000 // events that wait for a slow client; the oldest are dropped
	mostSessions = 15
)

// tailSessions counts the running sessions.
type tailSessions struct{ running atomic.Int64 }

// enter counts a session that leave ends. It reports an error if too many run.
func (t *tailSessions) enter() (leave func(), err error) {
	if t.running.Add(1) > mostSessions {
		t.running.Add(-1)
		return nil, &aws.Error{Code: "LimitExceededException",
			Message: "The maximum number of concurrent Live Tail sessions has been reached."}
	}
	return func() { t.running.Add(-1) }, nil
}

// startLiveTail sends the events that are appended to some log groups, once a second, until the client disconnects.
func (s *Service) startLiveTail(ctx context.Context, q *server.Request) (*server.Answer, error) {
	var r startLiveTailRequest
	if err := server.Fill(&r, q.Input); err != nil {
		return nil, err
	}
	scope := in(q.Scope)
	t, err := newTail(scope, &r)
	if err != nil {
		return nil, err
	}
	if q.Events == nil {
		return nil, invalid("Live Tail needs a protocol with event streams.")
	}
	leave, err := s.tails.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	stop, ended, err := s.store.Follow(scope, t.groups, t.receive)
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := q.Events.Begin(&server.Answer{}); err != nil {
		return nil, err
	}
	if err := q.Events.Send("sessionStart", sessionStart{RequestID: aws.NewID(), SessionID: aws.NewID(), Groups: r.Groups,
		Streams: emptyIfNil(r.Streams), Prefixes: emptyIfNil(r.Prefixes), Pattern: r.Pattern}); err != nil {
		return nil, err
	}
	tick := time.NewTicker(tailInterval)
	defer tick.Stop()
	limit := time.NewTimer(tailTimeout)
	defer limit.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ended:
			return nil, nil //nolint:nilnil // the stream ends
		case <-limit.C:
			return nil, &aws.Error{Code: "SessionTimeoutException", Message: "The session has timed out after 3 hours."}
		case <-tick.C:
			if err := q.Events.Send("sessionUpdate", t.update()); err != nil {
				return nil, err
			}
		}
	}
}

func emptyIfNil(list []string) []string { return append([]string{}, list...) }

// tail collects the events of a session.
type tail struct {
	account  string
	groups   []string
	streams  []string
	prefixes []string
	matches  func(message string) bool

	mu     sync.Mutex
	events []tailedEvent
	lost   bool // events were dropped since the last update
}

func newTail(scope aws.Scope, r *startLiveTailRequest) (*tail, error) {
	t := &tail{account: scope.Account, streams: r.Streams, prefixes: r.Prefixes}
	for _, id := range r.Groups {
		a, ok := aws.ParseARN(id)
		name, group := strings.CutPrefix(a.Resource, "log-group:")
		switch {
		case !ok || !group || strings.HasSuffix(name, "*"):
			return nil, invalid("Specify each log group by its ARN, without an asterisk at its end: " + id)
		case a.Account != scope.Account || a.Region != scope.Region:
			return nil, errNoGroup
		case slices.Contains(t.groups, name):
			return nil, invalid("The log group " + id + " is specified twice.")
		}
		t.groups = append(t.groups, name)
	}
	selected := len(r.Streams) > 0 || len(r.Prefixes) > 0
	switch {
	case len(r.Streams) > 0 && len(r.Prefixes) > 0:
		return nil, invalid("LogStream names and LogStream name prefixes are mutually exclusive parameters.")
	case selected && len(r.Groups) > 1:
		return nil, invalid("LogStream names and prefixes can be specified only with a single log group.")
	}
	var err error
	t.matches, err = parsePattern(r.Pattern)
	return t, err
}

// selects reports whether the session includes a stream.
func (t *tail) selects(stream string) bool {
	switch {
	case len(t.streams) > 0:
		return slices.Contains(t.streams, stream)
	case len(t.prefixes) > 0:
		return slices.ContainsFunc(t.prefixes, func(p string) bool { return strings.HasPrefix(stream, p) })
	}
	return true
}

// receive collects the events that match.
func (t *tail) receive(group, stream string, events []logstore.Event) {
	if !t.selects(stream) {
		return
	}
	var found []tailedEvent
	for i := range events {
		if e := &events[i]; t.matches(e.Message) {
			found = append(found, tailedEvent{stream, t.account + ":" + group, e.Message, e.Time, e.Ingestion})
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, found...)
	if n := len(t.events) - mostTailed; n > 0 {
		t.events, t.lost = slices.Delete(t.events, 0, n), true
	}
}

// update takes the collected events, or a sample that is distributed evenly over them if there are too many.
func (t *tail) update() (u sessionUpdate) {
	t.mu.Lock()
	all := t.events
	u.Metadata.Sampled = t.lost || len(all) > mostInUpdate
	t.events, t.lost = nil, false
	t.mu.Unlock()
	u.Results = make([]tailedEvent, min(len(all), mostInUpdate))
	for i := range u.Results {
		u.Results[i] = all[i*len(all)/len(u.Results)]
	}
	return u
}
