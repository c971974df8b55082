package river

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/outbox"
	"stepback/outbox/deadletters"
	"stepback/outbox/postgresstore"
	"stepback/outbox/webhook"
	"stepback/retry"
)

var update = flag.Bool("update", false, "write the table into docs/outbox.md instead of comparing with it")

// The result of a try: the program has the feature, behaves differently, or has no such mechanism.
const (
	yes  = "yes"
	no   = "no"
	none = "–"
)

// seen collects arrivals, in order. Its methods may be called from any goroutine.
type seen struct {
	mu  sync.Mutex
	all []string
}

func (s *seen) add(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, text)
	n := 0
	for _, one := range s.all {
		if one == text {
			n++
		}
	}
	return n
}

// becomes waits up to five seconds until the arrivals equal want.
func (s *seen) becomes(want string) bool {
	for range 500 {
		if s.text() == want {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return s.text() == want
}

func (s *seen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.all, " ")
}

// stateError is an SQLSTATE error of a database driver.
type stateError string

func (s stateError) Error() string    { return "SQLSTATE " + string(s) }
func (s stateError) SQLState() string { return string(s) }

// outboxBed is the outbox with a relay, on a database.
type outboxBed struct {
	store *postgresstore.Store
	pool  *pgxpool.Pool
	stop  func()
}

func newOutbox(t *testing.T, address string, sink outbox.Sink) outboxBed {
	t.Helper()
	store, err := postgresstore.Open(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.New(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	r, err := outbox.New(outbox.Config{Store: store, Sink: sink, Poll: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); pool.Close(); _ = store.Close() })
	return outboxBed{store, pool, stop}
}

func (b outboxBed) write(t *testing.T, messages ...outbox.Message) {
	t.Helper()
	for i := range messages {
		messages[i].Topic = "t"
	}
	if err := postgresstore.Write(t.Context(), b.pool, messages...); err != nil {
		t.Fatal(err)
	}
}

// jobs is River on a database.
type jobs struct {
	client *river.Client[pgx.Tx]
	pool   *pgxpool.Pool
}

// working is a worker that works orders with a function.
type working struct {
	river.WorkerDefaults[order]
	work func(context.Context, *river.Job[order]) error
}

// Work implements river.Worker.
func (w *working) Work(ctx context.Context, j *river.Job[order]) error { return w.work(ctx, j) }

func newRiver(t *testing.T, address string, config river.Config, work func(context.Context, *river.Job[order]) error) jobs {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
	config.Workers = river.NewWorkers()
	river.AddWorker(config.Workers, &working{work: work})
	if config.Queues == nil {
		config.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}}
	}
	config.FetchCooldown, config.FetchPollInterval = 2*time.Millisecond, 50*time.Millisecond
	client, err := river.NewClient(driver, &config)
	if err != nil {
		t.Fatal(err)
	}
	return jobs{client, pool}
}

func (j jobs) start(t *testing.T) (stop func()) {
	t.Helper()
	if err := j.client.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := j.client.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func (j jobs) insert(t *testing.T, text string, o *river.InsertOpts) bool {
	t.Helper()
	res, err := j.client.Insert(t.Context(), order{text}, o)
	if err != nil {
		t.Fatal(err)
	}
	return !res.UniqueSkippedAsDuplicate
}

func payloadOf(text string) []byte { return []byte(`"` + text + `"`) }

func textOf(m *outbox.Message) string { return strings.Trim(string(m.Payload), `"`) }

// dead waits for the first dead letter.
func (b outboxBed) dead(t *testing.T) deadletters.Letter {
	t.Helper()
	for range 500 {
		page, err := b.store.List(t.Context(), deadletters.Query{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Letters) > 0 {
			return page.Letters[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nothing became a dead letter")
	return deadletters.Letter{}
}

// features contains the rows: the observed behaviour of the outbox and River. A nil try means that there is no such
// mechanism.
var features = []struct {
	what        string
	ours, river func(t *testing.T, address string) bool
	want        [2]string
}{
	{"written in the caller's transaction: after a rollback nothing is sent", func(t *testing.T, address string) bool {
		var got seen
		b := newOutbox(t, address, outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
			got.add(textOf(m))
			return nil
		}))
		tx, err := b.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := postgresstore.Write(t.Context(), tx, outbox.Message{Topic: "t", Payload: payloadOf("lost")}); err != nil {
			t.Fatal(err)
		}
		_ = tx.Rollback(t.Context())
		b.write(t, outbox.Message{Payload: payloadOf("sent")})
		return got.becomes("sent")
	}, func(t *testing.T, address string) bool {
		var got seen
		j := newRiver(t, address, river.Config{}, func(_ context.Context, job *river.Job[order]) error {
			got.add(job.Args.Text)
			return nil
		})
		tx, err := j.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.client.InsertTx(t.Context(), tx, order{"lost"}, nil); err != nil {
			t.Fatal(err)
		}
		_ = tx.Rollback(t.Context())
		j.insert(t, "sent", nil)
		j.start(t)
		return got.becomes("sent")
	}, [2]string{yes, yes}},

	{"a message that always fails does not delay others", func(t *testing.T, address string) bool {
		var got seen
		b := newOutbox(t, address, outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
			if textOf(m) == "poison" {
				return errors.New("no")
			}
			got.add(textOf(m))
			return nil
		}))
		b.write(t, outbox.Message{Payload: payloadOf("poison")}, outbox.Message{Payload: payloadOf("good")})
		return got.becomes("good")
	}, func(t *testing.T, address string) bool {
		var got seen
		j := newRiver(t, address, river.Config{}, func(_ context.Context, job *river.Job[order]) error {
			if job.Args.Text == "poison" {
				return errors.New("no")
			}
			got.add(job.Args.Text)
			return nil
		})
		j.insert(t, "poison", nil)
		j.insert(t, "good", nil)
		j.start(t)
		return got.becomes("good")
	}, [2]string{yes, yes}},

	{"order is kept per key, also while the first of the key fails", func(t *testing.T, address string) bool {
		var got seen
		b := newOutbox(t, address, outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
			if n := got.add(textOf(m)); textOf(m) == "first" && n == 1 {
				return &outbox.Failure{Name: retry.DeadlockException, Class: retry.Transient,
					RetryAfter: 100 * time.Millisecond, Err: errors.New("once")}
			}
			return nil
		}))
		b.write(t, outbox.Message{Key: "k", Payload: payloadOf("first")}, outbox.Message{Key: "k", Payload: payloadOf("second")})
		return got.becomes("first first second")
	}, nil, [2]string{yes, none}},

	{"by default, a permanent error is not retried (SQLSTATE 23505)",
		func(t *testing.T, address string) bool {
			var got seen
			b := newOutbox(t, address, outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
				got.add(textOf(m))
				return stateError("23505")
			}))
			b.write(t, outbox.Message{Payload: payloadOf("once")})
			return b.dead(t).Attempts == 1 && got.text() == "once"
		}, func(t *testing.T, address string) bool {
			var got seen
			j := newRiver(t, address, river.Config{}, func(_ context.Context, job *river.Job[order]) error {
				got.add(job.Args.Text)
				return stateError("23505")
			})
			j.insert(t, "once", nil)
			j.start(t)
			return !got.becomes("once once")
		}, [2]string{yes, no}},

	{"not delivered before a given time", func(t *testing.T, address string) bool {
		var at atomic.Int64
		b := newOutbox(t, address, outbox.SinkFunc(func(context.Context, *outbox.Message) error {
			at.Store(time.Now().UnixNano())
			return nil
		}))
		due := time.Now().Add(300 * time.Millisecond)
		b.write(t, outbox.Message{Payload: payloadOf("later"), NotBefore: due})
		return arrives(&at, due)
	}, func(t *testing.T, address string) bool {
		var at atomic.Int64
		j := newRiver(t, address, river.Config{}, func(context.Context, *river.Job[order]) error {
			at.Store(time.Now().UnixNano())
			return nil
		})
		due := time.Now().Add(300 * time.Millisecond)
		j.insert(t, "later", &river.InsertOpts{ScheduledAt: due})
		j.start(t)
		return arrives(&at, due)
	}, [2]string{yes, yes}},

	{"a duplicate message is rejected", func(t *testing.T, address string) bool {
		b := newOutbox(t, address, outbox.SinkFunc(func(context.Context, *outbox.Message) error { return nil }))
		const id = "0197a1b2-0000-7000-8000-000000000001"
		b.write(t, outbox.Message{ID: id, Payload: payloadOf("one")})
		return postgresstore.Write(t.Context(), b.pool, outbox.Message{ID: id, Topic: "t", Payload: payloadOf("one")}) != nil
	}, func(t *testing.T, address string) bool {
		j := newRiver(t, address, river.Config{}, func(context.Context, *river.Job[order]) error { return nil })
		unique := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
		return j.insert(t, "one", unique) && !j.insert(t, "one", unique)
	}, [2]string{yes, yes}},

	{"a payload is corrected next to the original and sent again, with a record of who did it and why",
		func(t *testing.T, address string) bool {
			var got seen
			b := newOutbox(t, address, outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
				if got.add(textOf(m)); textOf(m) == "broken" {
					return outbox.Invalid(errors.New("no such order"))
				}
				return nil
			}))
			b.write(t, outbox.Message{Payload: payloadOf("broken")})
			letter := b.dead(t)
			by := deadletters.By{Who: "ann", Reason: "a typing error"}
			if err := b.store.Edit(t.Context(), letter.ID, payloadOf("mended"), by); err != nil {
				t.Fatal(err)
			}
			if err := b.store.Redrive(t.Context(), letter.ID, by); err != nil {
				t.Fatal(err)
			}
			if !got.becomes("broken mended") {
				return false
			}
			acts, err := b.store.Acts(t.Context(), letter.ID, 10)
			return err == nil && len(acts) == 2 && acts[0].Who == "ann"
		}, nil, [2]string{yes, none}},

	{"signed webhooks, with the trace context of the writer", func(t *testing.T, address string) bool {
		var got seen
		const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.Header.Get("webhook-signature") != "" && r.Header.Get("traceparent") == trace {
				got.add("signed")
			}
		}))
		t.Cleanup(server.Close)
		secret, err := webhook.NewSecret("whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
		if err != nil {
			t.Fatal(err)
		}
		sink, err := webhook.New(webhook.Config{URL: server.URL, Secrets: []webhook.Secret{secret}})
		if err != nil {
			t.Fatal(err)
		}
		b := newOutbox(t, address, sink)
		b.write(t, outbox.Message{Payload: payloadOf("event"), TraceParent: trace})
		return got.becomes("signed")
	}, nil, [2]string{yes, none}},

	{"a stop waits for sends under way", func(t *testing.T, address string) bool {
		var got seen
		began := make(chan struct{})
		b := newOutbox(t, address, outbox.SinkFunc(func(context.Context, *outbox.Message) error {
			close(began)
			time.Sleep(200 * time.Millisecond)
			got.add("done")
			return nil
		}))
		b.write(t, outbox.Message{Payload: payloadOf("slow")})
		<-began
		b.stop()
		return got.text() == "done"
	}, func(t *testing.T, address string) bool {
		var got seen
		began := make(chan struct{})
		j := newRiver(t, address, river.Config{}, func(context.Context, *river.Job[order]) error {
			close(began)
			time.Sleep(200 * time.Millisecond)
			got.add("done")
			return nil
		})
		j.insert(t, "slow", nil)
		stop := j.start(t)
		<-began
		stop()
		return got.text() == "done"
	}, [2]string{yes, yes}},

	{"priorities", nil, func(t *testing.T, address string) bool {
		var got seen
		j := newRiver(t, address, river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 1}}},
			func(_ context.Context, job *river.Job[order]) error {
				got.add(job.Args.Text)
				return nil
			})
		j.insert(t, "low", &river.InsertOpts{Priority: 4})
		j.insert(t, "high", &river.InsertOpts{Priority: 1})
		j.start(t)
		return got.becomes("high low")
	}, [2]string{none, yes}},

	{"periodic jobs", nil, func(t *testing.T, address string) bool {
		var got seen
		periodic := river.NewPeriodicJob(river.PeriodicInterval(time.Hour),
			func() (river.JobArgs, *river.InsertOpts) { return order{"tick"}, nil },
			&river.PeriodicJobOpts{RunOnStart: true})
		j := newRiver(t, address, river.Config{PeriodicJobs: []*river.PeriodicJob{periodic}},
			func(_ context.Context, job *river.Job[order]) error {
				got.add(job.Args.Text)
				return nil
			})
		j.start(t)
		for range 3 { // its maintainer must be elected first
			if got.becomes("tick") {
				return true
			}
		}
		return false
	}, [2]string{none, yes}},
}

// arrives waits for at to be set, and reports whether it is not before due.
func arrives(at *atomic.Int64, due time.Time) bool {
	for range 1000 {
		if n := at.Load(); n != 0 {
			return n >= due.UnixNano()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// All features have the results in the table of docs/outbox.md.
func TestFeatures(t *testing.T) {
	server := postgrestest.Start(t)
	var table strings.Builder
	table.WriteString("| | stepback | River 0.51.1 |\n|---|---|---|\n")
	for _, f := range features {
		found := [2]string{none, none}
		for i, try := range []func(*testing.T, string) bool{f.ours, f.river} {
			if try == nil {
				continue
			}
			found[i] = no
			t.Run(fmt.Sprint(f.what, "/", []string{"stepback", "River"}[i]), func(t *testing.T) {
				if try(t, server.Database(t)) {
					found[i] = yes
				}
			})
		}
		if found != f.want {
			t.Errorf("%s: %v, want %v", f.what, found, f.want)
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", f.what, found[0], found[1])
	}
	const file, begin, end = "../../docs/outbox.md", "<!-- river -->\n", "<!-- /river -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ended := strings.Cut(rest, end)
	switch {
	case !ok || !ended:
		t.Fatalf("%s has no place for the table", file)
	case *update && !t.Failed():
		if err := os.WriteFile(file, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case old != table.String():
		t.Errorf("the table in %s is out of date: run go test -run Features -update", file)
	}
}
