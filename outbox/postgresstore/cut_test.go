package postgresstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/outbox"
	"stepback/outbox/postgresstore"
)

// cutter stands between a store and its server, and cuts connections in the middle of random requests, one of so
// many: before the server gets the request, or after, so that the answer is lost.
type cutter struct {
	address string
	cuts    atomic.Int64
	every   int

	mu     sync.Mutex
	random *rand.Rand
}

func newCutter(t *testing.T, address string, every int) *cutter {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := u.Host
	u.Host = l.Addr().String()
	c := &cutter{address: u.String(), every: every, random: rand.New(rand.NewPCG(uint64(every), 0))}
	var all sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.relay(client, server) })
		}
	})
	return c
}

func (c *cutter) relay(client net.Conn, server string) {
	defer client.Close()
	upstream, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(client, upstream)
		client.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			break
		}
		switch c.draw() {
		case 0:
			n = 0
			err = io.EOF // the request is lost
		case 1:
			client.Close() // the answer is lost
			err = io.EOF
		}
		if _, werr := upstream.Write(buffer[:n]); err != nil || werr != nil {
			break
		}
	}
	upstream.Close()
	<-back
}

func (c *cutter) draw() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.random.IntN(2 * c.every)
	if n < 2 {
		c.cuts.Add(1)
	}
	return n
}

// TestCutInTheMiddle has connections break in the middle of whatever a relay does.
func TestCutInTheMiddle(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for _, every := range []int{10, 25, 60} {
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			t.Parallel()
			address := server.Database(t)
			open(t, address) // makes the tables
			c := newCutter(t, address, every)
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
				Batch: 8, PerKey: 2, Random: none{},
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
			if c.cuts.Load() < 3 {
				t.Errorf("only %d connections were cut", c.cuts.Load())
			}
		})
	}
}

// openThrough opens a store through a cutter, which may cut that, too.
func openThrough(ctx context.Context, c *cutter) (*postgresstore.Store, error) {
	var errs []error
	for range 20 {
		s, err := postgresstore.Open(ctx, c.address, nil)
		if err == nil {
			return s, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// none draws the shortest wait.
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
