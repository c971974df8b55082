package events

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/dispatch"
	"stepback/local/services/documents"
)

// The states of a replay.
const (
	starting   = "STARTING"
	running    = "RUNNING"
	cancelling = "CANCELLING"
	completed  = "COMPLETED"
	cancelled  = "CANCELLED"
	failed     = "FAILED"
)

// replay is a replay as it is stored. Times are in milliseconds since 1970.
type replay struct {
	Account, Region, Name string
	Description           string `json:",omitempty"`
	Archive               string // its name
	Bus                   string
	Filters               []string `json:",omitempty"` // ARNs of the rules that receive the events; empty means all
	From, To              int64
	State                 string
	Reason                string `json:",omitempty"`
	Started               int64
	Ended                 int64  `json:",omitempty"`
	Last                  int64  `json:",omitempty"` // time of the last replayed event
	Cursor                string `json:",omitempty"` // key of the last replayed event
}

func (r *replay) scope() aws.Scope { return aws.Scope{Account: r.Account, Region: r.Region} }
func (r *replay) arn() string      { return r.scope().ARN("events", "replay/"+r.Name) }
func (r *replay) archiveARN() string {
	return r.scope().ARN("events", "archive/"+r.Archive)
}
func (r *replay) key() string { return "replay/" + r.Account + "/" + r.Region + "/" + r.Name }

// over reports whether the replay has ended.
func (r *replay) over() bool {
	return r.State == completed || r.State == cancelled || r.State == failed
}

type startReplayRequest struct {
	ReplayName, Description, EventSourceArn string
	EventStartTime, EventEndTime            float64 // seconds since 1970
	Destination                             replayDestination
}

type replayDestination struct {
	Arn        string
	FilterArns []string `json:",omitempty"`
}

type replayStateAnswer struct {
	ReplayArn, State string
	StateReason      string `json:",omitempty"`
}

type startReplayAnswer struct {
	replayStateAnswer
	ReplayStartTime server.Time
}

// maxReplays is the maximum number of active replays per account, AWS's quota.
const maxReplays = 10

func (s *Service) startReplay(_ context.Context, scope aws.Scope, in *startReplayRequest) (*startReplayAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	source, _ := aws.ParseARN(in.EventSourceArn)
	name, ok := strings.CutPrefix(source.Resource, "archive/")
	if !ok || source.Scope() != scope {
		return nil, invalid("Parameter EventSourceArn is not valid. Reason: Must contain an archive ARN.")
	}
	a, err := s.findArchive(scope, name)
	if err != nil {
		return nil, invalid("Parameter EventSourceArn is not valid. Reason: Archive %s does not exist.", name)
	}
	if !strings.Contains(in.Destination.Arn, ":event-bus/") {
		return nil, invalid("Parameter Destination.Arn is not valid. Reason: Must contain an event bus ARN.")
	}
	b, err := s.find(scope, in.Destination.Arn)
	if err != nil {
		return nil, err
	}
	if (busKey{b.scope(), b.Name}) != a.bus() {
		return nil, invalid("Parameter Destination.Arn is not valid. Reason: Cross event bus replay is not permitted.")
	}
	for _, filter := range in.Destination.FilterArns {
		if !slices.ContainsFunc(b.sorted(), func(r *rule) bool { return r.arn == filter }) {
			return nil, invalid("Parameter Destination.FilterArns is not valid. Reason: Rule %s does not exist on the event bus.",
				filter)
		}
	}
	if in.EventEndTime <= in.EventStartTime {
		return nil, invalid("Parameter EventEndTime is not valid. Reason: EventStartTime should be before EventEndTime.")
	}
	const thousand = 1000
	r := &replay{Account: scope.Account, Region: scope.Region, Name: in.ReplayName, Description: in.Description,
		Archive: a.Name, Bus: b.Name, Filters: in.Destination.FilterArns, From: int64(in.EventStartTime * thousand),
		To: int64(in.EventEndTime * thousand), State: starting, Started: s.now().UnixMilli()}
	if found, err := getJSON(s.table, r.key(), &replay{}); err != nil || found {
		if err == nil {
			err = exists("Replay %s already exists.", r.Name)
		}
		return nil, err
	}
	if len(s.replaying) >= maxReplays {
		return nil, &aws.Error{Code: "LimitExceededException",
			Message: "The requested resource exceeds the maximum number allowed."}
	}
	if err := s.keepJSON(r.key(), r); err != nil {
		return nil, err
	}
	s.begin(r) //nolint:contextcheck // it outlives the request
	return &startReplayAnswer{replayStateAnswer{ReplayArn: r.arn(), State: starting}, timeOf(r.Started)}, nil
}

// begin starts a replay in the background. mu is held.
func (s *Service) begin(r *replay) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.replaying[r.key()] = cancel
	s.o.Clock.Hold()
	s.work.Go(func() {
		defer s.o.Clock.Release()
		defer cancel()
		err := s.replay(ctx, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.replaying, r.key())
		switch {
		case s.ctx.Err() != nil: // the next process resumes it
			return
		case ctx.Err() != nil:
			r.State = cancelled
		case err != nil:
			r.State, r.Reason = failed, err.Error()
		default:
			r.State = completed
		}
		r.Ended = s.now().UnixMilli()
		if err := s.keepJSON(r.key(), r); err != nil {
			s.o.Log.Error("the end of a replay is not kept", "replay", r.arn(), "error", err.Error())
		}
	})
}

var errEnough = errors.New("enough was read")

// replay sends the events of an archive, ordered by time, to the rules of its bus. Its position is stored together
// with what it sends, so the next process resumes from there.
func (s *Service) replay(ctx context.Context, r *replay) error {
	s.mu.RLock()
	a, err := s.findArchive(r.scope(), r.Archive)
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	r.State = running
	from, end := r.Cursor, a.from(time.UnixMilli(r.To))
	if from == "" {
		from = a.from(time.UnixMilli(r.From))
	}
	const together = 200
	for ctx.Err() == nil {
		var events []*event
		last := ""
		err := s.archives.ScanFrom(a.events(), from, func(key string, text []byte) error {
			if key >= end || len(events) == together {
				return errEnough
			}
			if key == r.Cursor {
				return nil
			}
			e, err := r.event(text)
			if err != nil {
				return err
			}
			e.ingested = s.now()
			events, last = append(events, e), key
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if len(events) == 0 {
			return nil
		}
		if err := s.sendReplayed(ctx, r, events, last); err != nil {
			return err
		}
		from = last
	}
	return ctx.Err()
}

// event parses an archived event and marks it as replayed.
func (r *replay) event(text []byte) (*event, error) {
	v, err := jsonvalue.Parse(string(text))
	if err != nil {
		return nil, err
	}
	id, _ := v.Get("id")
	return &event{id: id.Text(), value: v.With("replay-name", jsonvalue.OfString(r.Name)), replayed: true,
		occasion: r.Name}, nil
}

// sendReplayed sends events to the matching rules and stores the new position of the replay.
func (s *Service) sendReplayed(ctx context.Context, r *replay, events []*event, last string) error {
	key := busKey{r.scope(), r.Bus}
	var letters []*dispatch.Letter
	rules, _ := s.active(key)
	for _, e := range events {
		for _, rule := range rules {
			if (len(r.Filters) == 0 || slices.Contains(r.Filters, rule.arn)) && rule.pattern.Match(e.value) {
				letters = append(letters, s.letters(rule, e)...)
			}
		}
	}
	moved := *r
	moved.Cursor, moved.Last = last, events[len(events)-1].at().UnixMilli()
	text, err := json.Marshal(&moved)
	if err != nil {
		return err
	}
	if err := s.mail.Accept(ctx, letters, func(b *documents.Batch) { b.Put(s.table, r.key(), text) }); err != nil {
		return err
	}
	r.Cursor, r.Last = moved.Cursor, moved.Last
	return nil
}

type replayRequest struct{ ReplayName string }

func (s *Service) findReplay(scope aws.Scope, name string) (*replay, error) {
	r := &replay{Account: scope.Account, Region: scope.Region, Name: name}
	found, err := getJSON(s.table, r.key(), r)
	if err == nil && !found {
		err = notFound("Replay %s does not exist.", name)
	}
	return r, err
}

func (s *Service) cancelReplay(_ context.Context, scope aws.Scope, in *replayRequest) (*replayStateAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findReplay(scope, in.ReplayName)
	if err != nil {
		return nil, err
	}
	cancel := s.replaying[r.key()]
	if cancel == nil || r.over() {
		return nil, &aws.Error{Code: "IllegalStatusException",
			Message: "Replay " + r.Name + " is not in a valid state for this operation."}
	}
	cancel()
	return &replayStateAnswer{ReplayArn: r.arn(), State: cancelling}, nil
}

type listedReplay struct {
	ReplayName, EventSourceArn, State string
	StateReason                       string `json:",omitempty"`
	EventStartTime, EventEndTime      server.Time
	EventLastReplayedTime             server.Time `json:",omitzero"`
	ReplayStartTime                   server.Time
	ReplayEndTime                     server.Time `json:",omitzero"`
}

type describeReplayAnswer struct {
	listedReplay
	ReplayArn   string
	Description string `json:",omitempty"`
	Destination replayDestination
}

func (r *replay) listed() listedReplay {
	return listedReplay{ReplayName: r.Name, EventSourceArn: r.archiveARN(), State: r.State, StateReason: r.Reason,
		EventStartTime: timeOf(r.From), EventEndTime: timeOf(r.To), EventLastReplayedTime: timeOf(r.Last),
		ReplayStartTime: timeOf(r.Started), ReplayEndTime: timeOf(r.Ended)}
}

func (s *Service) describeReplay(_ context.Context, scope aws.Scope, in *replayRequest) (*describeReplayAnswer, error) {
	r, err := s.findReplay(scope, in.ReplayName)
	if err != nil {
		return nil, err
	}
	return &describeReplayAnswer{r.listed(), r.arn(), r.Description,
		replayDestination{r.scope().ARN("events", "event-bus/"+r.Bus), r.Filters}}, nil
}

type listReplaysRequest struct {
	paged
	NamePrefix, EventSourceArn, State string
}

type replaysAnswer struct {
	Replays   []listedReplay
	NextToken string `json:",omitempty"`
}

func (s *Service) listReplays(_ context.Context, scope aws.Scope, in *listReplaysRequest) (*replaysAnswer, error) {
	if err := oneFilter("ListReplays", in.NamePrefix, in.EventSourceArn, in.State); err != nil {
		return nil, err
	}
	all := []listedReplay{}
	prefix := (&replay{Account: scope.Account, Region: scope.Region, Name: in.NamePrefix}).key()
	if err := s.table.Scan(prefix, func(_ string, text []byte) error {
		var r replay
		err := json.Unmarshal(text, &r)
		if err == nil && (in.State == "" || in.State == r.State) &&
			(in.EventSourceArn == "" || in.EventSourceArn == r.archiveARN()) {
			all = append(all, r.listed())
		}
		return err
	}); err != nil {
		return nil, err
	}
	part, next, err := page(s, in.paged, []string{"ListReplays", prefix, in.EventSourceArn, in.State}, all,
		func(r listedReplay) string { return r.ReplayName })
	return &replaysAnswer{part, next}, err
}

// replayDays is the time for which a replay is kept after its end, as on AWS.
const replayDays = 90 * 24 * time.Hour

// resumeReplays resumes the replays that an earlier process left unfinished and deletes old ones. mu is held.
func (s *Service) resumeReplays() error {
	var old []string
	if err := s.table.Scan("replay/", func(key string, text []byte) error {
		r := &replay{}
		if err := json.Unmarshal(text, r); err != nil {
			return err
		}
		switch {
		case !r.over():
			s.begin(r)
		case s.now().Sub(time.UnixMilli(r.Ended)) > replayDays:
			old = append(old, key)
		}
		return nil
	}); err != nil || len(old) == 0 {
		return err
	}
	return s.o.Store.Write(func(b *documents.Batch) error {
		for _, key := range old {
			b.Delete(s.table, key)
		}
		return nil
	})
}
