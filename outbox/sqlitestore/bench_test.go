//go:build unix

package sqlitestore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"stepback/outbox"
	"stepback/outbox/sqlitestore"
)

// BenchmarkInsertToSent writes messages in transactions of 100 while one relay sends them, until all are recorded as
// sent.
func BenchmarkInsertToSent(b *testing.B) {
	path := filepath.Join(b.TempDir(), "app.db")
	store, err := sqlitestore.Open(b.Context(), path, sqlitestore.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	db, err := sql.Open("sqlite",
		"file:"+path+"?_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	recorded, finished := 0, make(chan struct{})
	r, err := outbox.New(outbox.Config{
		Store: store, Sink: outbox.SinkFunc(func(context.Context, *outbox.Message) error { return nil }),
		Observe: func(e outbox.Event) {
			if e.Kind == outbox.EventSettled { // called by one goroutine only
				if recorded += e.Count; recorded == b.N {
					close(finished)
				}
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	all := make([]outbox.Message, 100)
	before := processorTime(b)
	b.ResetTimer()
	for left := b.N; left > 0; left -= len(all) {
		all = all[:min(left, len(all))]
		for i := range all {
			all[i] = outbox.Message{
				Topic:   "bench",
				Payload: []byte(`{"order":12345,"customer":"ann","total":"12.50","currency":"EUR"}`),
			}
		}
		tx, err := db.Begin()
		if err == nil {
			err = sqlitestore.Write(b.Context(), tx, all...)
		}
		if err == nil {
			err = tx.Commit()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	<-finished
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N)/1000, "processor-µs/message")
	cancel()
	if err := <-done; err != nil {
		b.Error(err)
	}
}

// processorTime returns the processor time that this process has used. Other work on the machine affects it less than
// elapsed time.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
