package pgxlimits

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/csvimport/postgresstore/postgrestest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "20": 20 * time.Millisecond, "20s": 20 * time.Second,
		" 1.5 min ": 90 * time.Second, //nolint:gocritic // white space is ignored
		"500ms":     500 * time.Millisecond, "7us": 7 * time.Microsecond, "2h": 2 * time.Hour, "1d": 24 * time.Hour,
	} {
		if got, ok := parse(text); !ok || got != want {
			t.Errorf("%q is %s, %t; want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "s", "-1", "2 weeks", "NaN", "1e300"} {
		if got, ok := parse(text); ok {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct{ connect, ping, statement time.Duration }{
		"":                     {ConnectTimeout, pingTimeout, StatementTimeout},
		"statement_timeout=0":  {ConnectTimeout, pingTimeout, 0},
		"statement_timeout=1h": {ConnectTimeout, pingTimeout, time.Hour + grace},
		"statement_timeout=x":  {ConnectTimeout, pingTimeout, StatementTimeout},
		"connect_timeout=20&pool_ping_timeout=1s": {20 * time.Second, time.Second,
			StatementTimeout},
	} {
		config, err := pgxpool.ParseConfig("postgres://u@127.0.0.1/db?" + query)
		if err != nil {
			t.Fatal(err)
		}
		Set(config)
		if got := config.ConnConfig.Tracer.(limiter); got.statement != want.statement ||
			config.ConnConfig.ConnectTimeout != want.connect || config.PingTimeout != want.ping {
			t.Errorf("%q: connect %s, ping %s, statement %s; want %v", query, config.ConnConfig.ConnectTimeout,
				config.PingTimeout, got.statement, want)
		}
	}
}

// TestSilentServer has a server fall silent while it connects, before a statement and before a batch. Each call fails
// by its limit; without limits the test never ends.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	p := newPausable(t, postgrestest.Start(t).Database(t))
	config, err := pgxpool.ParseConfig(p.address)
	if err != nil {
		t.Fatal(err)
	}
	var traced tracer
	config.ConnConfig.Tracer = &traced
	Set(config)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), "SELECT pg_sleep(0.01)"); err != nil {
		t.Fatal(err)
	}
	soon := Within(t.Context(), time.Millisecond)
	for name, call := range map[string]func(pgx.Tx) error{
		"Exec": func(tx pgx.Tx) error {
			_, err := tx.Exec(soon, "SELECT 1")
			return err
		},
		"QueryRow": func(tx pgx.Tx) error {
			var n int
			return tx.QueryRow(soon, "SELECT 1").Scan(&n)
		},
		"SendBatch": func(tx pgx.Tx) error {
			var b pgx.Batch
			b.Queue("SELECT 1")
			return tx.SendBatch(soon, &b).Close()
		},
	} {
		p.pause(false)
		tx, err := pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.pause(true)
		if err := call(tx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		p.pause(false)
		_ = tx.Rollback(t.Context()) // the connection is closed
	}
	if traced.begun.Load() == 0 || traced.begun.Load() != traced.ended.Load() {
		t.Errorf("the caller's tracer has seen the start of %d statements and the end of %d", traced.begun.Load(),
			traced.ended.Load())
	}

	p.pause(true)
	config.ConnConfig.ConnectTimeout = time.Millisecond
	fresh, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	// Dialing may exceed the limit as well: a timeout of package net, which wraps no context.DeadlineExceeded.
	err = fresh.Ping(t.Context())
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Errorf("a server that is silent in the handshake: %v", err)
	}
	p.pause(false)
}

// tracer counts statements.
type tracer struct{ begun, ended atomic.Int64 }

func (r *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.begun.Add(1)
	return ctx
}

func (r *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) { r.ended.Add(1) }

// pausable relays between clients and a server, and nothing while it is paused. Connections stay open.
type pausable struct {
	address string

	mu     sync.Mutex
	resume chan struct{} // closed unless it is paused
}

func newPausable(t *testing.T, address string) *pausable {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := u.Host
	u.Host = l.Addr().String()
	p := &pausable{address: u.String(), resume: make(chan struct{})}
	close(p.resume)
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := new(net.Dialer).DialContext(t.Context(), "tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			all.Go(func() { p.copy(upstream, client) })
			all.Go(func() { p.copy(client, upstream) })
		}
	})
	return p
}

func (p *pausable) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		resume := p.resume
		p.mu.Unlock()
		<-resume
		if _, werr := to.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (p *pausable) pause(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.resume:
		if yes {
			p.resume = make(chan struct{})
		}
	default:
		if !yes {
			close(p.resume)
		}
	}
}
