// Package rehearsal implements the scenario "outbox": the three exercises of the course in one story. A receiver
// fails now and then and loses responses, then fails for an hour; two payloads are broken; an operator fixes one,
// discards the other and redrives the dead letters. It runs on an outbox in a directory that is removed afterwards,
// in virtual time.
//
// It checks that nothing is lost, that duplicates keep their ID, that the order of each key is kept, and that retries
// wait as the retry table specifies. It never sends anything out of the process.
package rehearsal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"stepback/outbox"
	"stepback/outbox/deadletters"
	"stepback/outbox/sqlitestore"
	"stepback/retry"
)

// Result is the result of the rehearsal.
type Result struct {
	Timeline []Moment
	Checks   []Check
	Lasted   time.Duration // on the rehearsal's own clock
}

// Moment is something that happened, with the time since the start.
type Moment struct {
	At   time.Duration
	What string
}

// Check is one thing that must hold.
type Check struct {
	What   string
	Passed bool
	Got    string // what was found
}

// Passed reports whether all checks hold.
func (r *Result) Passed() bool {
	for _, c := range r.Checks {
		if !c.Passed {
			return false
		}
	}
	return len(r.Checks) > 0
}

const (
	orders   = 120 // messages in the story
	keys     = 8   // customers, each with an ordered sequence of orders
	outage   = 10 * time.Minute
	outLasts = time.Hour
	retries  = 5 // few, so that the outage causes dead letters
)

// story is a running rehearsal.
type story struct {
	Result
	began, now time.Time
	random     *rand.Rand
	store      *sqlitestore.Store
	db         *sql.DB
	relay      *outbox.Relay

	ids      []string       // of the orders, by number
	received map[string]int // how often each ID was received
	last     map[string]int // the last order of each customer
	disorder int
	failed   int
	early    int
	due      map[string]time.Time // the time before which a failed message must not be repeated
}

// Run runs the rehearsal. The seed determines which sends fail.
func Run(ctx context.Context, seed uint64) (_ *Result, err error) {
	dir, err := os.MkdirTemp("", "stepback-outbox-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s := &story{began: began, now: began, random: rand.New(rand.NewPCG(seed, 0)), received: map[string]int{},
		last: map[string]int{}, due: map[string]time.Time{}}
	path := filepath.Join(dir, "app.db")
	s.store, err = sqlitestore.Open(ctx, path, sqlitestore.Config{Now: func() time.Time { return s.now }})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.store.Close()) }()
	if s.db, err = sql.Open("sqlite", "file:"+path); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	if s.relay, err = outbox.New(outbox.Config{Store: s.store, Sink: outbox.SinkFunc(s.receive), Concurrency: 1,
		MaxRetries: retries, Rand: s.random}); err != nil {
		return nil, err
	}
	for _, act := range []func(context.Context) error{s.write, s.deliver, s.fix, s.deliver, s.judge} {
		if err := act(ctx); err != nil {
			return nil, err
		}
	}
	s.Lasted = s.now.Sub(s.began)
	return &s.Result, nil
}

func (s *story) say(format string, args ...any) {
	s.Timeline = append(s.Timeline, Moment{s.now.Sub(s.began), fmt.Sprintf(format, args...)})
}

func (s *story) check(passed bool, what, format string, args ...any) {
	s.Checks = append(s.Checks, Check{what, passed, fmt.Sprintf(format, args...)})
}

// order is a payload that the receiver understands.
type order struct {
	Order    *int   `json:"order"`
	Customer string `json:"customer"`
}

// write simulates an application that writes orders, each in the same transaction as the order's row. Two payloads
// are misspelled, and one transaction is rolled back.
func (s *story) write(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, "CREATE TABLE orders (n INTEGER PRIMARY KEY)"); err != nil {
		return err
	}
	for n := range orders + 1 {
		name := "order"
		if n == 11 || n == 47 {
			name = "oder"
		}
		m := []outbox.Message{{Topic: "order.placed", Key: fmt.Sprintf("customer-%d", n%keys),
			Payload: fmt.Appendf(nil, `{"%s":%d,"customer":"customer-%d"}`, name, n, n%keys)}}
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO orders VALUES (?)", n)
		if err == nil {
			err = sqlitestore.Write(ctx, tx, m...)
		}
		if err == nil && n < orders {
			err = tx.Commit()
			s.ids = append(s.ids, m[0].ID)
		} else {
			err = errors.Join(err, tx.Rollback())
		}
		if err != nil {
			return err
		}
	}
	s.say("an application commits %d orders of %d customers with their messages, and rolls one back", orders, keys)
	return nil
}

// receive plays the receiver. It fails in three of ten calls, loses one response in ten, and is out for an hour.
func (s *story) receive(_ context.Context, m *outbox.Message) error {
	if s.now.Before(s.due[m.ID]) {
		s.early++
	}
	var o order
	if err := json.Unmarshal(m.Payload, &o); err != nil || o.Order == nil {
		return outbox.Invalid(errors.New(`the required member "order" is missing`))
	}
	at, chance := s.now.Sub(s.began), s.random.Float64()
	out := at >= outage && at < outage+outLasts && s.received[m.ID] == 0 && *o.Order%3 == 0
	if out || chance < 0.3 {
		return s.refuse(m, retry.ServiceUnavailableError, "503 Service Unavailable")
	}
	if s.received[m.ID]++; s.received[m.ID] == 1 { // the receiver detects duplicates by ID and does nothing
		if before, ok := s.last[o.Customer]; ok && before > *o.Order {
			s.disorder++
		}
		s.last[o.Customer] = *o.Order
	}
	if chance > 0.9 {
		return s.refuse(m, retry.TimeoutError, "the response was lost")
	}
	return nil
}

func (s *story) refuse(m *outbox.Message, name, text string) error {
	s.failed++
	s.due[m.ID] = s.now.Add(time.Millisecond)
	return &outbox.Failure{Name: name, Class: retry.Transient, Err: errors.New(text)}
}

// deliver advances the time until no message is waiting.
func (s *story) deliver(ctx context.Context) error {
	sent, dead := int64(0), int64(0)
	for {
		done, err := s.relay.Drain(ctx)
		if err != nil {
			return err
		}
		sent, dead = sent+done.Sent, dead+done.Dead
		left := 0
		for _, id := range s.ids {
			l, err := s.store.Show(ctx, id)
			if err != nil {
				return err
			}
			if l.State == deadletters.Underway {
				left++
			}
		}
		if left == 0 {
			s.say("all messages are sent or dead: %d sent, %d dead", sent, dead)
			return nil
		}
		const step = 20 * time.Second
		s.now = s.now.Add(step)
	}
}

// fix simulates the operator.
func (s *story) fix(ctx context.Context) error {
	groups, err := s.store.Groups(ctx, deadletters.Filter{})
	if err != nil {
		return err
	}
	for _, g := range groups {
		s.say("dead letters: %d of %s, %s", g.Count, g.Reason, g.Error)
	}
	s.now = s.now.Add(outage + outLasts)
	ann := deadletters.Operator{Store: s.store, Who: "ann"}
	refused := ann.Edit(ctx, s.ids[11], []byte(`{"order":11`), "")
	s.check(refused != nil, "an edit that is no JSON is refused", "%v", refused)
	if err := ann.Edit(ctx, s.ids[11], []byte(`{"order":11,"customer":"customer-3"}`), "misspelled by release 7"); err != nil {
		return err
	}
	if err := ann.Discard(ctx, deadletters.Selection{IDs: []string{s.ids[47]}}, false, "the customer has cancelled",
		func(r deadletters.Result) error { return r.Err }); err != nil {
		return err
	}
	s.last = map[string]int{} // dead letters let the customer's other orders overtake them
	redriven := 0
	if err := ann.Redrive(ctx, deadletters.Selection{Filter: &deadletters.Filter{}}, deadletters.Pace{}, "the receiver is back",
		func(r deadletters.Result) error {
			redriven++
			return r.Err
		}); err != nil {
		return err
	}
	s.say("ann fixes order 11, discards order 47, and redrives %d letters", redriven)
	return nil
}

// judge checks everything that must hold.
func (s *story) judge(ctx context.Context) error {
	never, repeats, unknown := 0, 0, 0
	known := map[string]bool{}
	for n, id := range s.ids {
		known[id] = true
		if s.received[id] == 0 && n != 47 {
			l, err := s.store.Show(ctx, id)
			if err != nil {
				return err
			}
			if l.State != deadletters.Dead { // a letter that died again is not lost: a person can see it
				never++
			}
		}
		repeats += max(0, s.received[id]-1)
	}
	for id := range s.received {
		if !known[id] {
			unknown++
		}
	}
	s.check(never == 0, "no message is lost", "%d of %d neither arrived nor became dead letters", never, orders)
	s.check(unknown == 0, "only committed messages arrive, and repeats have the ID of the original",
		"%d repeats, %d unknown IDs", repeats, unknown)
	s.check(s.failed > 0 && s.early == 0, "every retry waits", "%d sends failed, %d were retried too early", s.failed, s.early)
	s.check(s.disorder == 0, "each customer's orders arrive in order", "%d were out of order", s.disorder)
	acts, err := s.store.Acts(ctx, "", 1000)
	if err != nil {
		return err
	}
	edits, discards := 0, 0
	for _, a := range acts {
		switch a.Verb {
		case deadletters.VerbEdit:
			edits++
		case deadletters.VerbDiscard:
			discards++
		default:
		}
	}
	s.check(edits == 1 && discards == 1, "the operator's actions are logged", "%d acts", len(acts))
	return nil
}
