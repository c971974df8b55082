package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stepback/outbox"
	"stepback/outbox/deadletters"
	"stepback/outbox/sqlitestore"
	"stepback/retry"
	"stepback/retrypatterns"
)

// longest always draws the longest wait.
type longest struct{}

func (longest) Uint64() uint64 { return 1<<64 - 1 }

// world is an outbox, a relay on it and a sink, in virtual time.
type world struct {
	ownPolicy bool // relays without a Policy go by their own, not by the retry table
	t         *testing.T
	store     *sqlitestore.Store
	db        *sql.DB
	began     time.Time
	skew      time.Duration // how far the machine's clock was set

	mu   sync.Mutex
	sent []string // what the sink received: the time since the start, and the payload
	ends []string // retries and dead letters that the relay reported
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // nobody waits: it is called in the bubbles of synctest only
}

// virtually runs a test in virtual time.
func virtually(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, began: time.Now()}
		var err error
		w.store, err = sqlitestore.Open(t.Context(), path, sqlitestore.Config{Look: time.Hour, Now: func() time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			return time.Now().Add(w.skew)
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := w.store.Close(); err != nil {
				t.Error(err)
			}
		}()
		if w.db, err = sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"); err != nil {
			t.Fatal(err)
		}
		defer w.db.Close()
		test(t, w)
	})
}

// write commits messages with these payloads and wakes the relay. A payload "key:text" sets a key.
func (w *world) write(payloads ...string) []outbox.Message {
	w.t.Helper()
	all := make([]outbox.Message, len(payloads))
	for i, p := range payloads {
		key, _, keyed := strings.Cut(p, ":")
		if !keyed {
			key = ""
		}
		all[i] = outbox.Message{Topic: "test", Key: key, Payload: []byte(p), ContentType: "text/plain"}
	}
	if err := sqlitestore.Write(context.Background(), w.db, all...); err != nil {
		w.t.Fatal(err)
	}
	w.store.Wake()
	return all
}

// take is a sink that accepts everything.
func (w *world) take(_ context.Context, m *outbox.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, fmt.Sprint(time.Since(w.began).Round(time.Millisecond), " ", string(m.Payload)))
	return nil
}

// relay runs a relay until stop is called, which waits for its end.
func (w *world) relay(c outbox.Config) (stop func() error) {
	w.t.Helper()
	c.Store = w.store
	if c.Rand == nil {
		c.Rand = longest{}
	}
	if c.Policy == nil && !w.ownPolicy {
		c.Policy = retrypatterns.PolicyFor
	}
	if c.Sink == nil {
		c.Sink = outbox.SinkFunc(w.take)
	}
	c.Linger, c.Poll = -1, time.Hour // the tests wake it explicitly
	c.Observe = func(e outbox.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		at := time.Since(w.began).Round(time.Millisecond)
		switch e.Kind {
		case outbox.EventRetry:
			w.ends = append(w.ends,
				fmt.Sprint(at, " ", string(e.Delivery.Payload), " failed: ", e.Error, ", again after ", e.After))
		case outbox.EventDead:
			w.ends = append(w.ends, fmt.Sprint(at, " ", string(e.Delivery.Payload), " died: ", e.Reason, ", ", e.Error))
		default:
		}
	}
	r, err := outbox.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// arrived returns what the sink has received so far.
func (w *world) arrived() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// different returns how many payloads the sink has received, each counted once.
func (w *world) different() int {
	payloads := map[string]bool{}
	for _, s := range w.arrived() {
		_, p, _ := strings.Cut(s, " ")
		payloads[p] = true
	}
	return len(payloads)
}

// said returns the retries and dead letters that the relay has reported so far.
func (w *world) said() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.ends)
}

func (w *world) wants(what string, got []string, want ...string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Errorf("%s:\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func stopped(t *testing.T, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// TestDelaysWithoutAPolicy follows a message to its end by the relay's own delays: doubled up to five minutes, and 15
// retries unless MaxRetries says otherwise.
func TestDelaysWithoutAPolicy(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.ownPolicy = true
		stop := w.relay(outbox.Config{Sink: outbox.SinkFunc(func(context.Context, *outbox.Message) error {
			return errors.New("hm")
		})})
		w.write("x")
		pass(3 * time.Hour)
		ends := w.said()
		if len(ends) != 16 {
			t.Fatalf("%d attempts, want 16: %q", len(ends), ends)
		}
		w.wants("some of them", []string{ends[0], ends[1], ends[8], ends[9], ends[14], ends[15]},
			"0s x failed: States.TaskFailed, again after 1s",
			"1s x failed: States.TaskFailed, again after 2s",
			"4m15s x failed: States.TaskFailed, again after 4m16s",
			"8m31s x failed: States.TaskFailed, again after 5m0s",
			"33m31s x failed: States.TaskFailed, again after 5m0s",
			"38m31s x died: retries_exhausted, States.TaskFailed")
		stopped(t, stop)
	})
}

// TestDelaysAreTheTables follows a message through the retries of its error's pattern.
func TestDelaysAreTheTables(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		stop := w.relay(
			outbox.Config{MaxRetries: -1, Sink: outbox.SinkFunc(func(ctx context.Context, m *outbox.Message) error {
				switch string(m.Payload) {
				case "aggressive":
					return &outbox.Failure{
						Name:  retry.ServiceUnavailableError,
						Class: retry.Transient,
						Err:   errors.New("503"),
					}
				case "unknown":
					return errors.New("hm")
				case "refused":
					return outbox.Permanent("", errors.New("no"))
				}
				return w.take(ctx, m)
			})},
		)
		w.write("aggressive")
		pass(time.Minute)
		w.wants("aggressive", w.said(),
			"0s aggressive failed: ServiceUnavailableError, again after 1s",
			"1s aggressive failed: ServiceUnavailableError, again after 2s",
			"3s aggressive failed: ServiceUnavailableError, again after 4s",
			"7s aggressive failed: ServiceUnavailableError, again after 8s",
			"15s aggressive failed: ServiceUnavailableError, again after 16s",
			"31s aggressive died: retries_exhausted, ServiceUnavailableError")
		w.write("unknown", "refused", "fine")
		pass(time.Minute)
		ends := w.said()[6:]
		slices.Sort(ends[:2]) // at the same instant, in any order
		w.wants("unknown and refused", ends,
			"1m0s refused died: refused, InvalidInput",
			"1m0s unknown failed: States.TaskFailed, again after 2s",
			"1m2s unknown failed: States.TaskFailed, again after 3s",
			"1m5s unknown died: retries_exhausted, States.TaskFailed")
		w.wants("sent", w.arrived(), "1m0s fine")
		stopped(t, stop)
	})
}

func TestReceiversCannotAskForEver(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		asks := []time.Duration{365 * 24 * time.Hour, 90 * time.Second, -time.Hour, 0}
		stop := w.relay(outbox.Config{Sink: outbox.SinkFunc(func(ctx context.Context, m *outbox.Message) error {
			if len(asks) == 0 {
				return w.take(ctx, m)
			}
			ask := asks[0]
			asks = asks[1:]
			return &outbox.Failure{
				Name:       retry.ServiceUnavailableError,
				Class:      retry.Transient,
				RetryAfter: ask,
				Err:        errors.New("503"),
			}
		})})
		w.write("m")
		pass(2 * time.Hour)
		w.wants("retries", w.said(),
			"0s m failed: ServiceUnavailableError, again after 1h0m0s",
			"1h0m0s m failed: ServiceUnavailableError, again after 1m30s",
			"1h1m30s m failed: ServiceUnavailableError, again after 4s",
			"1h1m34s m failed: ServiceUnavailableError, again after 8s")
		w.wants("sent", w.arrived(), "1h1m42s m")
		stopped(t, stop)
	})
}

// While a message with key a waits for its retry, key b continues, and so do messages without a key.
func TestAKeyWaitsForItsRetry(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		failures := 2
		stop := w.relay(
			outbox.Config{Concurrency: 1, Sink: outbox.SinkFunc(func(ctx context.Context, m *outbox.Message) error {
				if string(m.Payload) == "a:1" && failures > 0 {
					failures--
					return errors.New("not now")
				}
				return w.take(ctx, m)
			})},
		)
		w.write("a:1", "a:2", "b:1", "none", "a:3", "b:2")
		pass(time.Minute)
		stopped(t, stop)
		w.wants("sent", w.arrived(), "0s none", "0s b:1", "0s b:2", "5s a:1", "5s a:2", "5s a:3")
	})
}

// TestASinkThatHangs uses one send that honours its context and one that does not; neither delays others.
func TestASinkThatHangs(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		free := make(chan struct{})
		var hung atomic.Int64
		stop := w.relay(
			outbox.Config{
				Concurrency: 2,
				MaxRetries:  1,
				Sink: outbox.SinkFunc(func(ctx context.Context, m *outbox.Message) error {
					switch string(m.Payload) {
					case "polite":
						<-ctx.Done()
						return ctx.Err()
					case "deaf":
						hung.Add(1)
						<-free
						return nil
					}
					return w.take(ctx, m)
				}),
			},
		)
		w.write("polite", "deaf", "k:1", "k:2")
		pass(10 * time.Minute)
		w.wants("failures", w.said(),
			"30s polite failed: TimeoutError, again after 5s",
			"31s deaf failed: TimeoutError, again after 5s",
			"1m5s polite died: retries_exhausted, TimeoutError",
			"1m7s deaf died: retries_exhausted, TimeoutError")
		w.wants("sent", w.arrived(), "30s k:1", "30s k:2")
		w.write("later")
		pass(time.Second)
		w.wants("sent later", w.arrived()[2:], "10m0s later")
		if n := hung.Load(); n != 2 {
			t.Errorf("the deaf one was sent %d times, want 2", n)
		}
		if err := stop(); !errors.Is(err, outbox.ErrSinkHangs) {
			t.Errorf("Run: %v, want ErrSinkHangs", err)
		}
		close(free)
	})
}

func TestAPanicFailsOneMessage(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		stop := w.relay(
			outbox.Config{MaxRetries: -1, Sink: outbox.SinkFunc(func(ctx context.Context, m *outbox.Message) error {
				if string(m.Payload) == "bug" {
					panic("index out of range")
				}
				return w.take(ctx, m)
			})},
		)
		all := w.write("bug", "fine")
		pass(time.Minute)
		w.wants("sent", w.arrived(), "0s fine")
		l, err := w.store.Show(t.Context(), all[0].ID)
		if err != nil || l.State != deadletters.Dead || l.Error != retry.RuntimeExitError ||
			!strings.Contains(l.Cause, "index out of range") {
			t.Errorf("the letter is %+v, %v", l, err)
		}
		stopped(t, stop)
	})
}

// A graceful stop lets a running send finish, starts no other, and releases the rest at once.
func TestAGracefulStop(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		slow := outbox.SinkFunc(func(ctx context.Context, m *outbox.Message) error {
			pass(10 * time.Second)
			return w.take(ctx, m)
		})
		stop := w.relay(outbox.Config{Concurrency: 1, Sink: slow})
		w.write("k:1", "k:2", "k:3")
		pass(5 * time.Second)
		stopped(t, stop)
		w.wants("sent", w.arrived(), "10s k:1")
		stop = w.relay(outbox.Config{})
		pass(time.Second)
		stopped(t, stop)
		w.wants("sent by the next relay", w.arrived(), "10s k:1", "10s k:2", "10s k:3")
		w.wants("failures", w.said())
	})
}

// A send that takes longer than the grace is cancelled, and its message is sent again.
func TestAGraceThatEnds(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		stop := w.relay(
			outbox.Config{
				SendTimeout: time.Hour,
				Sink: outbox.SinkFunc(func(ctx context.Context, _ *outbox.Message) error {
					<-ctx.Done()
					return ctx.Err()
				}),
			},
		)
		w.write("m")
		pass(time.Second)
		stopped(t, stop)
		w.wants("failures", w.said()) // the message is not to blame
		stop = w.relay(outbox.Config{})
		pass(time.Second)
		stopped(t, stop)
		w.wants("sent", w.arrived(), "21s m")
	})
}

// TestALeaseIsKept makes a send take longer than the lease while a second relay looks for work.
func TestALeaseIsKept(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		stop := w.relay(
			outbox.Config{
				Lease:       time.Minute,
				SendTimeout: time.Hour,
				Sink: outbox.SinkFunc(func(ctx context.Context, m *outbox.Message) error {
					pass(10 * time.Minute)
					return w.take(ctx, m)
				}),
			},
		)
		w.write("long")
		pass(time.Second)
		second := w.relay(outbox.Config{Sink: outbox.SinkFunc(func(context.Context, *outbox.Message) error {
			t.Error("a second relay sends it meanwhile")
			return nil
		})})
		pass(15 * time.Minute)
		stopped(t, stop)
		stopped(t, second)
		w.wants("sent", w.arrived(), "10m0s long")
	})
}

// TestARelayThatVanishes leaves claimed messages behind. Another relay claims them when the lease expires, until the
// messages are assumed to be the cause.
func TestARelayThatVanishes(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.write("deadly", "k:1")
		for range 3 {
			claimed, err := w.store.Claim(t.Context(),
				outbox.Claim{Lease: "gone", For: time.Minute, Limit: 1, PerKey: 1, Bytes: 1})
			if err != nil || len(claimed.Messages) != 1 || string(claimed.Messages[0].Payload) != "deadly" {
				t.Fatalf("claimed %v, %v", claimed.Messages, err)
			}
			pass(2 * time.Minute)
		}
		stop := w.relay(outbox.Config{MaxExpiries: 2})
		pass(time.Second)
		stopped(t, stop)
		w.wants("sent", w.arrived(), "6m0s k:1")
		w.wants("died", w.said(), "6m0s deadly died: lease_expired, Runtime.ExitError")
	})
}

// TestClocksThatJump sets the system clock back and forth.
func TestClocksThatJump(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		set := func(d time.Duration) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.skew = d
		}
		fails := true
		stop := w.relay(outbox.Config{Sink: outbox.SinkFunc(func(ctx context.Context, m *outbox.Message) error {
			if string(m.Payload) == "retried" && fails {
				fails = false
				return errors.New("not now")
			}
			return w.take(ctx, m)
		})})
		w.write("retried")
		synctest.Wait()
		set(-1000 * time.Hour) // by this clock, the retry is due in 1000 hours
		w.write("new")
		synctest.Wait()
		w.wants("sent after the clock was set back", w.arrived(), "0s new")
		pass(61 * time.Minute)
		if sent := w.arrived(); len(sent) != 2 || !strings.HasSuffix(sent[1], "retried") {
			t.Errorf("the retry is put off for 1000 hours: %v", sent)
		}
		set(1000 * time.Hour)
		w.write("newer")
		synctest.Wait()
		if sent := w.arrived(); len(sent) != 3 || !strings.HasSuffix(sent[2], "newer") {
			t.Errorf("sent %v", sent)
		}
		stopped(t, stop)
	})
}

// flaky is a store of whose calls one in five fails before it does the work, and one in five after. It draws them:
// failures at regular intervals meet the relay's own intervals, and lose the same message's claims again and again,
// until the relay takes the message for one that crashes relays.
type flaky struct {
	outbox.Store
	mu   sync.Mutex
	draw *rand.Rand
}

var errGone = errors.New("connection reset by peer")

func (f *flaky) fails() (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.draw.IntN(5) {
	case 0:
		return errGone, nil
	case 1:
		return nil, errGone
	}
	return nil, nil
}

func (f *flaky) Claim(ctx context.Context, c outbox.Claim) (outbox.Claimed, error) {
	before, after := f.fails()
	if before != nil {
		return outbox.Claimed{}, before
	}
	claimed, err := f.Store.Claim(ctx, c)
	if after != nil {
		return outbox.Claimed{}, after
	}
	return claimed, err
}

func (f *flaky) Settle(ctx context.Context, all []outbox.Settlement) (int, error) {
	before, after := f.fails()
	if before != nil {
		return 0, before
	}
	n, err := f.Store.Settle(ctx, all)
	return n, errors.Join(err, after)
}

func (f *flaky) Release(ctx context.Context, lease string) (int, error) {
	before, after := f.fails()
	if before != nil {
		return 0, before
	}
	n, err := f.Store.Release(ctx, lease)
	return n, errors.Join(err, after)
}

// deaf is a store whose first claims are carried out, but whose responses are lost.
type deaf struct {
	outbox.Store
	lost atomic.Int64 // how many are still to be lost
}

func (d *deaf) Claim(ctx context.Context, c outbox.Claim) (outbox.Claimed, error) {
	claimed, err := d.Store.Claim(ctx, c)
	if d.lost.Add(-1) >= 0 {
		return outbox.Claimed{}, errGone
	}
	return claimed, err
}

// The messages of a claim whose response is lost are sent with the next claim, not when the lease has ended. A Drain,
// which ends with the error, leaves them to other relays.
func TestAClaimWhoseResponseIsLost(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		store := &deaf{Store: w.store}
		relay, err := outbox.New(outbox.Config{Store: store, Sink: outbox.SinkFunc(w.take), Linger: -1, Poll: time.Hour,
			Rand: longest{}})
		if err != nil {
			t.Fatal(err)
		}
		store.lost.Store(1)
		w.write("a", "k:1", "k:2")
		if _, err := relay.Drain(t.Context()); !errors.Is(err, errGone) {
			t.Errorf("Drain: %v", err)
		}
		if drained, err := relay.Drain(t.Context()); err != nil || drained.Sent != 3 {
			t.Errorf("drained %+v, %v; want 3", drained, err)
		}
		store.lost.Store(2)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- relay.Run(ctx) }()
		w.write("b", "k:3")
		pass(10 * time.Second) // two delays of at most 2 and 3.6 s
		if sent := len(w.arrived()); sent != 5 {
			t.Errorf("%d messages have arrived, want 5", sent)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestADatabaseThatFails(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		relay, err := outbox.New(
			outbox.Config{
				Store: &flaky{Store: w.store, draw: rand.New(rand.NewPCG(1, 2))}, Sink: outbox.SinkFunc(w.take),
				Batch: 4, Linger: -1,
			})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- relay.Run(ctx) }()
		want := map[string]bool{}
		for n := range 50 {
			p := fmt.Sprintf("k%d:%d", n%3, n)
			want[p] = true
			w.write(p)
			pass(time.Second)
		}
		// How many calls fail in a row varies, but a message that is lost never arrives.
		for waited := time.Duration(0); waited < time.Hour && w.different() < len(want); waited += time.Minute {
			pass(time.Minute)
		}
		cancel()
		if err := <-done; err != nil && !errors.Is(err, errGone) {
			t.Errorf("Run: %v", err)
		}
		got := map[string]bool{}
		last := map[string]int{}
		for _, s := range w.arrived() {
			_, p, _ := strings.Cut(s, " ")
			var key, n int
			if _, err := fmt.Sscanf(p, "k%d:%d", &key, &n); err != nil {
				t.Fatal(err)
			}
			if !got[p] && last[fmt.Sprint(key)] > n {
				t.Errorf("%s arrives after %d", p, last[fmt.Sprint(key)])
			}
			got[p], last[fmt.Sprint(key)] = true, max(n, last[fmt.Sprint(key)])
		}
		if len(got) != len(want) {
			t.Errorf("%d messages of %d arrived", len(got), len(want))
		}
	})
}

// batches is a sink that accepts three messages at once, and refuses a batch with a bad message as a whole.
type batches struct {
	*world
	sizes []int
}

func (b *batches) Send(ctx context.Context, m *outbox.Message) error {
	return b.SendBatch(ctx, []*outbox.Message{m})[0]
}

func (b *batches) BatchLimits() (messages, bytes int) { return 3, 1000 }

func (b *batches) SendBatch(ctx context.Context, all []*outbox.Message) []error {
	errs := make([]error, len(all))
	b.mu.Lock()
	b.sizes = append(b.sizes, len(all))
	b.mu.Unlock()
	for _, m := range all {
		if string(m.Payload) == "bad" {
			for i := range errs {
				errs[i] = outbox.Permanent("", errors.New("the request is not valid"))
			}
			return errs
		}
	}
	for i, m := range all {
		errs[i] = b.take(ctx, m)
	}
	return errs
}

func TestBatches(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		sink := &batches{world: w}
		stop := w.relay(outbox.Config{Concurrency: 1, Sink: sink})
		w.write("1", "2", "3", "4", "bad", "5", "k:1", "k:2", strings.Repeat("6", 999))
		pass(time.Second)
		stopped(t, stop)
		if len(w.arrived()) != 8 {
			t.Errorf("%d messages were sent, want 8: %v", len(w.arrived()), w.arrived())
		}
		w.wants("died", w.said(), "0s bad died: refused, InvalidInput")
		if want := []int{3, 3, 1, 1, 1, 1, 1, 1}; !slices.Equal(sink.sizes, want) {
			t.Errorf("batches of %v, want %v", sink.sizes, want)
		}
	})
}

func TestConfigurationsThatAreNone(t *testing.T) {
	t.Parallel()
	good := outbox.Config{Store: &flaky{}, Sink: outbox.SinkFunc(nil)}
	for name, change := range map[string]func(*outbox.Config){
		"no store":          func(c *outbox.Config) { c.Store = nil },
		"no sink":           func(c *outbox.Config) { c.Sink = nil },
		"negative lease":    func(c *outbox.Config) { c.Lease = -1 },
		"negative batch":    func(c *outbox.Config) { c.Batch = -1 },
		"a name of a novel": func(c *outbox.Config) { c.Name = strings.Repeat("x", 201) },
	} {
		c := good
		change(&c)
		if _, err := outbox.New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := outbox.New(good); err != nil {
		t.Error(err)
	}
}
