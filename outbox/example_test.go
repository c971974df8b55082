package outbox_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"stepback/outbox"
	"stepback/outbox/deadletters"
	"stepback/outbox/sqlitestore"
	"stepback/retry"
)

// exercise is an outbox in a separate file, with a clock that is set by hand.
type exercise struct {
	dir   string
	now   time.Time
	store *sqlitestore.Store
	db    *sql.DB
}

func begin() *exercise {
	dir, err := os.MkdirTemp("", "outbox-exercise-")
	check(err)
	x := &exercise{dir: dir, now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	path := filepath.Join(dir, "app.db")
	x.store, err = sqlitestore.Open(context.Background(), path,
		sqlitestore.Config{Now: func() time.Time { return x.now }})
	check(err)
	x.db, err = sql.Open("sqlite", "file:"+path)
	check(err)
	_, err = x.db.Exec("CREATE TABLE orders (n INTEGER PRIMARY KEY)")
	check(err)
	return x
}

func (x *exercise) end() {
	check(errors.Join(x.db.Close(), x.store.Close(), os.RemoveAll(x.dir)))
}

// order inserts a row and the message that reports it, in one transaction.
func (x *exercise) order(n int, payload string) (id string) {
	tx, err := x.db.Begin()
	check(err)
	_, err = tx.Exec("INSERT INTO orders VALUES (?)", n)
	check(err)
	told := []outbox.Message{{Topic: "order.placed", Payload: []byte(payload)}}
	check(sqlitestore.Write(context.Background(), tx, told...))
	check(tx.Commit())
	return told[0].ID
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Exercise A: a receiver fails now and then. The retry count grows, the next attempt is scheduled for later, and in
// the end everything is sent.
func Example_transientFailure() {
	x := begin()
	defer x.end()
	random := rand.New(rand.NewPCG(21, 0))
	relay, err := outbox.New(outbox.Config{
		Store: x.store, Concurrency: 1, Rand: random,
		Sink: outbox.SinkFunc(func(context.Context, *outbox.Message) error {
			if random.Float64() < 0.3 {
				return &outbox.Failure{
					Name: retry.ServiceUnavailableError, Class: retry.Transient,
					Err: errors.New("503 Service Unavailable"),
				}
			}
			return nil
		}),
	})
	check(err)
	var ids []string
	for n := range 10 {
		ids = append(ids, x.order(n, fmt.Sprintf(`{"order":%d}`, n)))
	}
	for round := 1; ; round++ {
		done, err := relay.Drain(context.Background())
		check(err)
		fmt.Printf("round %d: %d sent, %d failed\n", round, done.Sent, done.Failed)
		if done.Failed == 0 {
			break
		}
		for n, id := range ids {
			if l, err := x.store.Show(context.Background(), id); err == nil && l.Attempts > 0 &&
				l.State == deadletters.Underway {
				fmt.Printf("  order %d: %s, attempt %d failed, the next one is in the future: %v\n", n, l.Error,
					l.Attempts, l.NextAttemptAt.After(x.now))
			}
		}
		x.now = x.now.Add(time.Minute)
	}
	// Output:
	// round 1: 8 sent, 2 failed
	//   order 3: ServiceUnavailableError, attempt 1 failed, the next one is in the future: true
	//   order 9: ServiceUnavailableError, attempt 1 failed, the next one is in the future: true
	// round 2: 0 sent, 2 failed
	//   order 3: ServiceUnavailableError, attempt 2 failed, the next one is in the future: true
	//   order 9: ServiceUnavailableError, attempt 2 failed, the next one is in the future: true
	// round 3: 1 sent, 1 failed
	//   order 3: ServiceUnavailableError, attempt 3 failed, the next one is in the future: true
	// round 4: 1 sent, 0 failed
}

// orderSink permanently refuses an order without its number: waiting does not help.
func orderSink(taken map[string]bool) outbox.Sink {
	return outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
		var order struct{ Order *int }
		if err := json.Unmarshal(m.Payload, &order); err != nil || order.Order == nil {
			return outbox.Invalid(errors.New(`the required member "order" is missing`))
		}
		if taken[m.ID] {
			return nil // a duplicate: the receiver knows the ID and does nothing
		}
		taken[m.ID] = true
		fmt.Printf("received order %d\n", *order.Order)
		return nil
	})
}

// Exercise B: an incomplete payload becomes a dead letter at once and does not hold up the others.
func Example_permanentFailure() {
	x := begin()
	defer x.end()
	relay, err := outbox.New(outbox.Config{Store: x.store, Sink: orderSink(map[string]bool{}), Concurrency: 1})
	check(err)
	bad := x.order(1, `{"oder":1}`)
	x.order(2, `{"order":2}`)
	done, err := relay.Drain(context.Background())
	check(err)
	fmt.Printf("%d sent, %d failed, %d dead\n", done.Sent, done.Failed, done.Dead)
	l, err := x.store.Show(context.Background(), bad)
	check(err)
	fmt.Printf("%s for %s: %s\n", l.State, l.Reason, l.Cause)
	// Output:
	// received order 2
	// 1 sent, 0 failed, 1 dead
	// dead for invalid_payload: the required member "order" is missing
}

// Exercise C: a person finds the cause, fixes the payload and redrives the letter. The actions are recorded.
func Example_redrive() {
	ctx := context.Background()
	x := begin()
	defer x.end()
	relay, err := outbox.New(outbox.Config{Store: x.store, Sink: orderSink(map[string]bool{})})
	check(err)
	id := x.order(1, `{"oder":1}`)
	_, err = relay.Drain(ctx)
	check(err)

	operator := deadletters.Operator{Store: x.store, Who: "ann"}
	page, err := x.store.List(ctx, deadletters.Query{Limit: 10})
	check(err)
	for _, l := range page.Letters {
		fmt.Printf("%s: %s after %d attempt, payload %s\n", l.Reason, l.Cause, l.Attempts, l.Payload)
	}
	fmt.Println(operator.Edit(ctx, id, []byte(`{"order":1`), "") != nil, "an edit that is no JSON is refused")
	check(operator.Edit(ctx, id, []byte(`{"order":1}`), "misspelled by release 7"))
	chosen := deadletters.Selection{Filter: &deadletters.Filter{Reason: outbox.ReasonInvalidPayload}}
	check(operator.Redrive(ctx, chosen, deadletters.Pace{}, "fixed", func(r deadletters.Result) error {
		fmt.Println("redrive:", r.Outcome)
		return r.Err
	}))
	_, err = relay.Drain(ctx)
	check(err)

	l, err := x.store.Show(ctx, id)
	check(err)
	fmt.Printf("%s; the original is still %s\n", l.State, l.Payload)
	acts, err := x.store.Acts(ctx, id, 10)
	check(err)
	for _, a := range acts {
		fmt.Printf("%s %s (%s): %s to %s\n", a.Who, a.Verb, a.Reason, a.Before, a.After)
	}
	// Output:
	// invalid_payload: the required member "order" is missing after 1 attempt, payload {"oder":1}
	// true an edit that is no JSON is refused
	// redrive: done
	// received order 1
	// delivered; the original is still {"oder":1}
	// ann redrive (fixed): {"status":"dead","reason":"invalid_payload","error":"InvalidInput","attempts":1} to {"status":"pending","attempts":0}
	// ann edit (misspelled by release 7): {"payload":{"oder":1}} to {"payload":{"order":1}}
}
