package outboxtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"stepback/outbox"
	"stepback/outbox/deadletters"
	"stepback/retry"
)

// quick makes every retry follow within a millisecond.
func quick(string) retry.Policy {
	return retry.Policy{Interval: time.Millisecond, Rate: 1, Jitter: retry.JitterFull}
}

// start runs a relay until the returned function is called, or the test ends.
func (o *Table) start(t testing.TB, c outbox.Config) (stop func()) {
	t.Helper()
	c.Store = o.Store
	if c.Policy == nil {
		c.Policy = quick
	}
	r, err := outbox.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// receiver is a sink that records messages.
type receiver struct {
	mu    sync.Mutex
	times map[int]int
	last  map[string]int
	bad   []string
	all   chan int
}

func newReceiver() *receiver {
	return &receiver{times: map[int]int{}, last: map[string]int{}, all: make(chan int, 10_000)}
}

// take records a message that has arrived. It requires that the first arrivals of a key are in order.
func (r *receiver) take(t testing.TB, m *outbox.Message) {
	t.Helper()
	n := number(t, m.ID)
	r.mu.Lock()
	r.times[n]++
	if r.times[n] == 1 && m.Key != "" {
		if r.last[m.Key] > n {
			r.bad = append(r.bad, fmt.Sprintf("%d of %s arrived after %d", n, m.Key, r.last[m.Key]))
		}
		r.last[m.Key] = n
	}
	first := r.times[n] == 1
	r.mu.Unlock()
	if first {
		r.all <- n
	}
}

func (r *receiver) wait(n int) {
	for range n {
		<-r.all
	}
}

func (r *receiver) check(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, bad := range r.bad {
		t.Error(bad)
	}
}

// testRelay uses a sink that fails now and then, and a message that can never be sent.
func testRelay(t *testing.T, o *Table) {
	const messages = 200
	r := newReceiver()
	attempts := map[string]int{}
	died := make(chan string, 10)
	stop := o.start(t, outbox.Config{
		Batch: 32, PerKey: 4, MaxRetries: 3,
		Observe: func(e outbox.Event) {
			if e.Kind == outbox.EventDead {
				died <- e.Delivery.ID + " " + e.Reason
			}
		},
		Sink: outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
			r.mu.Lock()
			attempts[m.ID]++
			again := attempts[m.ID] == 1 && number(t, m.ID)%3 == 0
			r.mu.Unlock()
			switch {
			case m.ID == id(100):
				return errors.New("connection refused")
			case again:
				return errors.New("not now")
			}
			r.take(t, m)
			return nil
		}),
	})
	for n := range messages {
		m := message(n, "")
		if n%4 == 0 {
			m.Key = fmt.Sprint("key", n%12)
		}
		if n == 60 {
			m.Payload = []byte(`{"n":`)
		}
		o.write(t, m)
	}
	r.wait(messages - 2)
	reasons := map[string]bool{<-died: true, <-died: true}
	stop()
	r.check(t)
	for _, w := range []string{id(60) + " invalid_payload", id(100) + " retries_exhausted"} {
		if !reasons[w] {
			t.Errorf("dead letters are %v, want %s", reasons, w)
		}
	}
	if l := o.show(t, 100); l.State != deadletters.Dead || l.Attempts != 4 || l.Cause != "connection refused" {
		t.Errorf("message 100 is %s after %d attempts: %s", l.State, l.Attempts, l.Cause)
	}
	want(t, "message 1", o.show(t, 1).State, deadletters.Delivered)
	s, err := o.Store.Stats(t.Context())
	if err != nil || s != (outbox.Stats{Dead: 2}) {
		t.Errorf("stats are %+v, %v", s, err)
	}
}

// testManyRelays lets four relays share the work while messages arrive, and stops two of them along the way.
func testManyRelays(t *testing.T, o *Table) {
	const messages = 300
	r := newReceiver()
	config := outbox.Config{
		Batch:       8,
		PerKey:      3,
		Concurrency: 4,
		Sink: outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
			r.take(t, m)
			return nil
		}),
	}
	stops := make([]func(), 4)
	for i := range stops {
		stops[i] = o.start(t, config)
	}
	for n := range messages {
		o.write(t, message(n, []string{"", "a", "b"}[n%3]))
		if n == 100 || n == 200 {
			stops[n/100]()
		}
	}
	r.wait(messages)
	for _, stop := range stops {
		stop()
	}
	r.check(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, times := range r.times {
		if times != 1 {
			t.Errorf("message %d was sent %d times without a crash", n, times)
		}
	}
}

func testRelayDrains(t *testing.T, o *Table) {
	o.writeAll(t, 1, 20, "k")
	o.writeAll(t, 21, 40, "")
	failing := message(41, "")
	failing.Payload = []byte("no JSON")
	o.write(t, failing)
	r := newReceiver()
	relay, err := outbox.New(
		outbox.Config{
			Store:  o.Store,
			Batch:  8,
			PerKey: 2,
			Sink: outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
				r.take(t, m)
				return nil
			}),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	done, err := relay.Drain(t.Context())
	if err != nil || done != (outbox.Drained{Sent: 40, Dead: 1}) {
		t.Errorf("Drain: %+v, %v", done, err)
	}
	r.check(t)
	if done, err := relay.Drain(t.Context()); err != nil || done != (outbox.Drained{}) {
		t.Errorf("a second Drain: %+v, %v", done, err)
	}
}

func testRelayTakesOver(t *testing.T, o *Table) {
	o.writeAll(t, 1, 3, "k")
	want(t, "claimed by a relay that is killed", numbers(t, o.claim(t, "import#", 10)), "[1 2 3]")
	drain := func(takeOver bool, sent int64) {
		t.Helper()
		relay, err := outbox.New(outbox.Config{Store: o.Store, Name: "import", TakeOver: takeOver,
			Sink: outbox.SinkFunc(func(context.Context, *outbox.Message) error { return nil })})
		if err != nil {
			t.Fatal(err)
		}
		if done, err := relay.Drain(t.Context()); err != nil || done != (outbox.Drained{Sent: sent}) {
			t.Errorf("Drain: %+v, %v; want %d sent", done, err, sent)
		}
	}
	drain(false, 0) // the leases last an hour
	drain(true, 3)
}

func testRedriveThroughRelay(t *testing.T, o *Table) {
	wrong := message(1, "")
	wrong.Payload = []byte("{")
	died := make(chan struct{}, 1)
	r := newReceiver()
	o.start(t, outbox.Config{
		Observe: func(e outbox.Event) {
			if e.Kind == outbox.EventSettled && e.Count > 0 {
				died <- struct{}{}
			}
		},
		Sink: outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
			if string(m.Payload) != `{"mended":true}` {
				t.Errorf("payload is %s", m.Payload)
			}
			r.take(t, m)
			return nil
		}),
	})
	o.write(t, wrong)
	<-died
	me := deadletters.Operator{Store: o.Letters, Who: "me"}
	if err := me.Edit(t.Context(), id(1), []byte(`{"mended":true}`), ""); err != nil {
		t.Fatal(err)
	}
	if err := me.Redrive(t.Context(), deadletters.Selection{IDs: []string{id(1)}}, deadletters.Pace{}, "",
		ignore); err != nil {
		t.Fatal(err)
	}
	r.wait(1)
	<-died
	var ends []deadletters.State
	if err := me.Follow(t.Context(), []string{id(1)}, time.Millisecond, func(l deadletters.Letter) error {
		ends = append(ends, l.State)
		return nil
	}); err != nil || len(ends) != 1 || ends[0] != deadletters.Delivered {
		t.Errorf("it ended as %v, %v", ends, err)
	}
}
