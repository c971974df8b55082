package postgresstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/outbox"
	"stepback/outbox/postgresstore"
)

// TestCutInTheMiddle cuts connections in the middle of everything a relay does.
func TestCutInTheMiddle(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for _, every := range []int{10, 25, 60} {
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			t.Parallel()
			address := server.Database(t)
			open(t, address) // creates the tables
			c := postgrestest.NewCutter(t, address, every)
			store, err := openThrough(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			conn, err := pgx.Connect(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())

			const messages = 120
			var mu sync.Mutex
			var once sync.Once
			first := map[string]bool{}
			last := map[string]string{}
			all := make(chan struct{})
			r, err := outbox.New(outbox.Config{
				Store: store, Lease: 200 * time.Millisecond, Poll: 50 * time.Millisecond,
				Batch: 8, PerKey: 2, Rand: none{},
				Sink: outbox.SinkFunc(func(_ context.Context, m *outbox.Message) error {
					mu.Lock()
					defer mu.Unlock()
					if !first[m.ID] && m.Key != "" {
						if last[m.Key] > m.Headers["Number"] {
							t.Errorf("%s of %s arrives after %s", m.Headers["Number"], m.Key, last[m.Key])
						}
						last[m.Key] = m.Headers["Number"]
					}
					if first[m.ID] = true; len(first) == messages {
						once.Do(func() { close(all) })
					}
					return nil
				}),
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- r.Run(ctx) }()
			for n := range messages {
				key := []string{"", "a", "b"}[n%3]
				if err := postgresstore.Write(ctx, conn, outbox.Message{Topic: "t", Key: key,
					Headers: map[string]string{"Number": fmt.Sprintf("%03d", n)}, Payload: []byte("1")}); err != nil {
					t.Fatal(err)
				}
			}
			<-all
			cancel()
			if err := <-done; err != nil {
				t.Logf("the last outcomes were lost, too: %v", err)
			}
			if c.Cuts.Load() < 3 {
				t.Errorf("only %d connections were cut", c.Cuts.Load())
			}
		})
	}
}

// openThrough opens a store through a cutter, which may cut that connection, too.
func openThrough(ctx context.Context, c *postgrestest.Cutter) (*postgresstore.Store, error) {
	var errs []error
	for range 20 {
		s, err := postgresstore.Open(ctx, c.Address, nil)
		if err == nil {
			return s, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// none always draws the shortest wait.
type none struct{}

func (none) Uint64() uint64 { return 0 }

func TestOpenTogether(t *testing.T) {
	t.Parallel()
	address := postgrestest.Start(t).Database(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s, err := postgresstore.Open(t.Context(), address, nil)
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "UPDATE outbox_version SET version = 99"); err != nil {
		t.Fatal(err)
	}
	_, err = postgresstore.Open(t.Context(), address, nil)
	if newer, ok := errors.AsType[*postgresstore.NewerSchemaError](err); !ok || newer.Have != 99 {
		t.Errorf("a newer outbox: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	if _, err := postgresstore.Open(t.Context(), "postgres://u:secret@127.0.0.1:1/db", nil); err == nil {
		t.Error("nobody's server can be opened")
	}
	if _, err := postgresstore.Open(t.Context(), "postgres://u:secret@%zz", nil); err == nil {
		t.Error("an address that is none can be opened")
	}
}
