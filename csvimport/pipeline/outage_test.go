package pipeline_test

import (
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stepback/csvimport"
	"stepback/csvimport/pipeline"
	"stepback/retry"
	"stepback/statemachine"
)

// breakingListener breaks connections within responses of more than 10,000 bytes, at drawn offsets.
type breakingListener struct {
	net.Listener
	broken *atomic.Int64

	mu   sync.Mutex
	draw *rand.Rand
}

func newBreakingListener(t *testing.T, seed uint64, broken *atomic.Int64) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &breakingListener{Listener: l, broken: broken, draw: rand.New(rand.NewPCG(seed, 0))}
}

func (l *breakingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return &breakingConn{Conn: c, of: l, left: 10_000 + l.draw.IntN(200_000)}, nil
}

// breakingConn breaks when it has written more than left bytes since it last read something.
type breakingConn struct {
	net.Conn
	of      *breakingListener
	left    int
	written atomic.Int64
}

func (c *breakingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.written.Store(0)
	}
	return n, err
}

func (c *breakingConn) Write(p []byte) (int, error) {
	if c.written.Add(int64(len(p))) > int64(c.left) {
		c.of.broken.Add(1)
		_ = c.Conn.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
	return c.Conn.Write(p)
}

// failingStore fails all batches while down returns true.
type failingStore struct {
	csvimport.Store
	down func() bool
}

func (s *failingStore) ApplyBatch(
	ctx context.Context,
	run csvimport.Run,
	rows []csvimport.Row,
) ([]csvimport.Answer, error) {
	if s.down() {
		return nil, csvimport.Fail(retry.DatabaseConnectionError, "the database is down")
	}
	return s.Store.ApplyBatch(ctx, run, rows)
}

func (s *failingStore) Apply(
	ctx context.Context,
	run csvimport.Run,
	row int64,
	inc csvimport.Increment,
) (csvimport.Outcome, error) {
	if s.down() {
		return "", csvimport.Fail(retry.DatabaseConnectionError, "the database is down")
	}
	return s.Store.Apply(ctx, run, row, inc)
}

// TestAnOutageOfSixMinutes imports 60,000 rows. After a tenth of them the database is away for six minutes, and within
// these the process ends and another one continues. Every connection that carries the file breaks, as it does when it
// is not read for so long. No row is lost.
func TestAnOutageOfSixMinutes(t *testing.T) {
	t.Parallel()
	const rows, outage = 60_000, 6 * time.Minute
	all := activities(rows, 0)
	tr := newTrial(t, "activity.csv", plain(all))
	tr.cfg.Shape, tr.cfg.Concurrency = "bulk", 10
	var broken atomic.Int64
	var mu sync.Mutex
	var p *pipeline.Pipeline
	var from time.Time // of the outage
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	applied, refused := 0, 0
	down := func() bool {
		mu.Lock()
		defer mu.Unlock()
		now := p.Platform().Clock.Now()
		if applied++; applied < rows/250/10 {
			return false
		}
		if from.IsZero() {
			from = now
		}
		if now.Sub(from) >= outage {
			return false
		}
		if refused++; refused == 30 {
			kill()
		}
		return true
	}
	tr.cfg.Store = func(s csvimport.Store) csvimport.Store { return &failingStore{s, down} }
	open := func() {
		tr.cfg.Listener = newBreakingListener(t, 28, &broken)
		opened := tr.open(t)
		mu.Lock()
		p = opened
		mu.Unlock()
	}
	open()
	if _, err := p.Import(ctx, tr.file, false, nil); err == nil {
		t.Fatal("the import was not interrupted")
	}
	closed(t, p)
	before := broken.Load()
	open()
	r := imported(t, p, tr.file, false)
	closed(t, p)
	if r.Status != "SUCCEEDED" || r.Rows == nil || r.Rows.Applied+r.Rows.AlreadyApplied != rows ||
		r.Rows.DeadLettered != 0 {
		t.Fatalf("%s %s %s, rows %+v", r.Status, r.Error, strings.TrimSpace(r.Cause), r.Rows)
	}
	if before == 0 || broken.Load() == before || refused < 30 {
		t.Errorf(
			"%d connections broke before the interruption and %d after it, %d batches were refused",
			before,
			broken.Load()-before,
			refused,
		)
	}
	tr.sameUsers(t, sum(all, nil))
}

// TestAnOutageThatOutlastsTheImport imports while the database is away for good. Batches and rows stop waiting three
// hours before the execution's timeout, so that the execution ends with a summary instead of TIMED_OUT.
func TestAnOutageThatOutlastsTheImport(t *testing.T) {
	t.Parallel()
	const rows = 2000
	tr := newTrial(t, "activity.csv", plain(activities(rows, 0)))
	tr.cfg.Shape, tr.cfg.Concurrency = "bulk", 1
	tr.cfg.Store = func(s csvimport.Store) csvimport.Store {
		return &failingStore{s, func() bool { return true }}
	}
	p := tr.open(t)
	began := p.Platform().Clock.Now()
	r := imported(t, p, tr.file, false)
	took := p.Platform().Clock.Now().Sub(began)
	closed(t, p)
	if r.Error != statemachine.ToleranceExceeded || r.Rows == nil || r.Rows.DeadLettered != rows {
		t.Errorf("%s: %s, rows %+v; want all rows dead-lettered in a summary", r.Error, r.Cause, r.Rows)
	}
	if took < 21*time.Hour || took > 23*time.Hour {
		t.Errorf("the import took %v; records wait for 21 h", took)
	}
}
