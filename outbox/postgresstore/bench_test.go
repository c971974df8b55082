package postgresstore_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/outbox"
	"stepback/outbox/postgresstore"
)

// bed opens an outbox, the application's connections and a relay whose sink is a function.
func bed(b *testing.B, sink func(*outbox.Message), observe func(outbox.Event)) *pgxpool.Pool {
	b.Helper()
	address := postgrestest.Start(b).Database(b)
	store := open(b, address)
	pool, err := pgxpool.New(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	r, err := outbox.New(
		outbox.Config{
			Store:   store,
			Observe: observe,
			Sink: outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
				sink(m)
				return nil
			}),
		},
	)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return pool
}

// BenchmarkInsertToSent writes messages in transactions of 100 while one relay sends them, until all are recorded as
// sent.
func BenchmarkInsertToSent(b *testing.B) {
	for name, keys := range map[string]int{"NoKeys": 0, "1000Keys": 1000} {
		b.Run(name, func(b *testing.B) {
			recorded, finished := 0, make(chan struct{})
			pool := bed(b, func(*outbox.Message) {}, func(e outbox.Event) {
				if e.Kind == outbox.EventSettled { // called by one goroutine only
					if recorded += e.Count; recorded == b.N {
						close(finished)
					}
				}
			})
			all := make([]outbox.Message, 100)
			b.ResetTimer()
			for left, key := b.N, 0; left > 0; left -= len(all) {
				all = all[:min(left, len(all))]
				for i := range all {
					all[i] = outbox.Message{
						Topic:   "bench",
						Payload: []byte(`{"order":12345,"customer":"ann","total":"12.50","currency":"EUR"}`),
					}
					if keys > 0 {
						key++
						all[i].Key = strconv.Itoa(key % keys)
					}
				}
				if err := postgresstore.Write(b.Context(), pool, all...); err != nil {
					b.Fatal(err)
				}
			}
			<-finished
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// BenchmarkCommitToDelivery writes a message each millisecond, in a separate transaction, and reports the time from
// the commit to the sink. Four connections share the writing, so that a message never waits for the commit of the
// previous one: messages/s shows whether all 1,000 per second arrived.
func BenchmarkCommitToDelivery(b *testing.B) {
	committed := make([]time.Time, b.N)
	took := make([]time.Duration, b.N)
	arrived := make(chan struct{}, b.N)
	pool := bed(b, func(m *outbox.Message) {
		n, err := strconv.Atoi(string(m.Payload))
		if err != nil {
			b.Error(err)
			return
		}
		took[n] = time.Since(committed[n])
		arrived <- struct{}{}
	}, nil)
	b.ResetTimer()
	began := time.Now()
	const writers = 4
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := w; n < b.N; n += writers {
				//nolint:forbidigo // a benchmark of real time
				time.Sleep(time.Until(began.Add(time.Duration(n) * time.Millisecond)))
				committed[n] = time.Now() // before the commit: the sink may be faster than the commit's response
				if err := postgresstore.Write(b.Context(), pool, outbox.Message{Topic: "bench",
					Payload: []byte(strconv.Itoa(n))}); err != nil {
					b.Error(err)
					arrived <- struct{}{}
				}
			}
		})
	}
	for range b.N {
		<-arrived
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[b.N*50/100].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[b.N*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkPick claims batches from a table of many messages, one in a hundred of which is due. STEPBACK_OUTBOX_ROWS
// sets the number of messages; filling the table with 10,000,000 takes a minute or two, so run that with -timeout 0.
func BenchmarkPick(b *testing.B) {
	rows := 200_000
	if text := os.Getenv("STEPBACK_OUTBOX_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	address := postgrestest.Start(b).Database(b)
	store := open(b, address)
	pool, err := pgxpool.New(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	fill(b, pool, rows)
	b.Run(strconv.Itoa(rows), func(b *testing.B) { pick(b, store) })
}

// id is an SQL expression for an ID as applications write them: of version 7, which starts with the time.
const id = `(lpad(to_hex(1763800000000 + n), 12, '0') || '7' || substr(md5(n::text), 1, 3) ||
	'8' || substr(md5(n::text), 4, 15))::uuid`

// fill writes messages of which one in a hundred is due; half of the others are already sent, the other half wait for
// a retry or are delayed. Indexes are created afterwards, as is usual for large amounts of data.
func fill(b *testing.B, pool *pgxpool.Pool, rows int) {
	b.Helper()
	exec := func(statement string, args ...any) {
		b.Helper()
		if _, err := pool.Exec(b.Context(), statement, args...); err != nil {
			b.Fatal(err)
		}
	}
	found, _ := pool.Query(b.Context(), `SELECT indexdef FROM pg_indexes
		WHERE tablename = 'outbox_messages' AND indexname NOT IN ('outbox_messages_pkey', 'outbox_messages_id_key')`)
	indexes, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil || len(indexes) == 0 {
		b.Fatal(indexes, err)
	}
	for _, definition := range indexes {
		exec("DROP INDEX " + strings.Fields(definition)[2]) // CREATE INDEX name ON …
	}
	exec("ALTER TABLE outbox_messages DROP CONSTRAINT outbox_messages_id_key")
	const chunk = 100_000
	for from := 1; from <= rows; from += chunk {
		exec(`INSERT INTO outbox_messages (id, topic, payload, status, next_attempt_at, ended_at, retry_count)
			SELECT `+id+`, 'bench', '{"order":12345}',
				CASE WHEN n % 100 = 0 THEN 'failed' WHEN n % 2 = 1 THEN 'sent' ELSE 'failed' END,
				CASE WHEN n % 100 = 0 THEN now() - interval '1 minute' WHEN n % 2 = 1 THEN NULL
					ELSE now() + n % 86400 * interval '1 second' + interval '10 hours' END,
				CASE WHEN n % 100 <> 0 AND n % 2 = 1 THEN now() END, 1
			FROM generate_series($1::int, $2::int) AS n`, from, min(from+chunk-1, rows))
	}
	exec("ALTER TABLE outbox_messages ADD CONSTRAINT outbox_messages_id_key UNIQUE (id)")
	for _, definition := range indexes {
		exec(definition)
	}
	exec("VACUUM ANALYZE outbox_messages")
	exec("CHECKPOINT")
}

func pick(b *testing.B, store *postgresstore.Store) {
	b.Helper()
	took := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for range b.N {
		began := time.Now()
		claimed, err := store.Claim(b.Context(),
			outbox.Claim{Lease: "bench", For: time.Hour, Limit: 100, PerKey: 10, Bytes: 1 << 20})
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		b.StopTimer()
		back := make([]outbox.Settlement, len(claimed.Messages))
		for i, d := range claimed.Messages {
			back[i] = outbox.Settlement{Held: outbox.Held{Seq: d.Seq, Lease: d.Lease}, Status: outbox.Pending}
		}
		if n, err := store.Settle(b.Context(), back); err != nil || n == 0 {
			b.Fatalf("%d messages were claimed, %v", n, err)
		}
		b.StartTimer()
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
