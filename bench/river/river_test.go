// Package river compares the speed of the outbox with River's (github.com/riverqueue/river), on the same PostgreSQL
// server in the same run: from insert to worked for River, from insert to sent for the outbox. It is a separate
// module, so that stepback does not depend on River.
//
//	go test -run '^$' -bench . -benchtime 50000x
package river

import (
	"context"
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
	"stepback/outbox/postgresstore"
)

const payload = `{"order":12345,"customer":"ann","total":"12.50","currency":"EUR"}`

// atOnce is the number of rows written in one transaction.
const atOnce = 100

// BenchmarkInsertToDone alternates River and the outbox on one server.
func BenchmarkInsertToDone(b *testing.B) {
	server := postgrestest.Start(b)
	for _, who := range []struct {
		name  string
		bench func(*testing.B, string)
	}{{"River", benchRiver}, {"Outbox", benchOutbox}, {"RiverAgain", benchRiver}, {"OutboxAgain", benchOutbox}} {
		b.Run(who.name, func(b *testing.B) { who.bench(b, server.Database(b)) })
	}
}

// inTransactions inserts n rows, atOnce in each transaction.
func inTransactions(b *testing.B, pool *pgxpool.Pool, n int, insert func(tx pgx.Tx, n int) error) {
	b.Helper()
	for n > 0 {
		some := min(n, atOnce)
		n -= some
		if err := pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error { return insert(tx, some) }); err != nil {
			b.Fatal(err)
		}
	}
}

func report(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

func connect(b *testing.B, address string) *pgxpool.Pool {
	b.Helper()
	pool, err := pgxpool.New(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	return pool
}

func benchOutbox(b *testing.B, address string) {
	store, err := postgresstore.Open(b.Context(), address, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	pool := connect(b, address)
	done := make(chan struct{})
	recorded := 0
	r, err := outbox.New(outbox.Config{
		Store: store, Sink: outbox.SinkFunc(func(context.Context, *outbox.Message) error { return nil }),
		Observe: func(e outbox.Event) {
			if e.Kind == outbox.EventSettled { // by one goroutine only
				if recorded += e.Count; recorded == b.N {
					close(done)
				}
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	b.ResetTimer()
	inTransactions(b, pool, b.N, func(tx pgx.Tx, n int) error {
		all := make([]outbox.Message, n)
		for i := range all {
			all[i] = outbox.Message{Topic: "bench", Payload: []byte(payload)}
		}
		return postgresstore.Write(b.Context(), tx, all...)
	})
	<-done // recorded as sent
	b.StopTimer()
	report(b)
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}

// order is a River job.
type order struct {
	Text string `json:"text"`
}

// Kind implements river.JobArgs.
func (order) Kind() string { return "order" }

// worker works orders.
type worker struct {
	river.WorkerDefaults[order]
	worked *atomic.Int64
	all    int64
	done   chan struct{}
}

// Work implements river.Worker.
func (w *worker) Work(context.Context, *river.Job[order]) error {
	if w.worked.Add(1) == w.all {
		close(w.done)
	}
	return nil
}

func benchRiver(b *testing.B, address string) {
	pool := connect(b, address)
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := migrator.Migrate(b.Context(), rivermigrate.DirectionUp, nil); err != nil {
		b.Fatal(err)
	}
	w := &worker{worked: &atomic.Int64{}, all: int64(b.N), done: make(chan struct{})}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}}, Workers: workers,
		// as in River's own benchmark
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := client.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	inTransactions(b, pool, b.N, func(tx pgx.Tx, n int) error {
		all := make([]river.InsertManyParams, n)
		for i := range all {
			all[i].Args = order{payload}
		}
		_, err := client.InsertManyFastTx(b.Context(), tx, all)
		return err
	})
	<-w.done // worked; it is recorded a moment later
	b.StopTimer()
	report(b)
	if err := client.Stop(context.Background()); err != nil {
		b.Error(err)
	}
}
