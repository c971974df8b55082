package clock

import (
	"context"
	"sync"
	"time"
)

// Work represents work that holds the clock while it runs, such as a task. The real time it takes does not count in
// virtual time. If it takes so long that it is considered hung, virtual time continues without it, up to the
// timeout of whatever waits for it.
type Work struct {
	clock    *Clock
	patience time.Duration

	mu    sync.Mutex
	waits int         // the number of waits for which it has released its hold itself
	lost  bool        // it has lost its hold
	over  bool        // End has been called
	since time.Time   // time of its last sign of life
	limit *time.Timer // removes the hold; nil if patience is unlimited

	notify func() // called when the work loses its hold; may be nil
}

type working struct{}

// Begin holds the clock for a piece of work until the work's End. The returned context identifies the work. If
// Sleep, Park or Yield is called with it, or with a context derived from it, it releases the work's hold.
//
// patience is the real time that the work may take between two such calls before it loses its hold; 0 means
// unlimited. On a clock whose time is not virtual, Begin returns ctx unchanged and a nil Work, on which End may be
// called.
func (c *Clock) Begin(ctx context.Context, patience time.Duration) (context.Context, *Work) {
	if c.mode == realTime {
		return ctx, nil
	}
	c.Hold()
	w := &Work{clock: c, patience: patience}
	if patience > 0 {
		w.since = time.Now()
		w.limit = time.AfterFunc(patience, w.lose)
	}
	return context.WithValue(ctx, working{}, w), w
}

// Go runs f on a goroutine of the group as a piece of work that holds the clock from now on, so that virtual time does
// not advance before the goroutine runs. f receives the work's context. See Begin for ctx and patience.
func (c *Clock) Go(ctx context.Context, group *sync.WaitGroup, patience time.Duration, f func(context.Context)) {
	ctx, work := c.Begin(ctx, patience)
	group.Go(func() {
		defer work.End()
		f(ctx)
	})
}

// WhenLost makes the clock call f each time the work has exceeded its patience, before time continues without it. It
// calls f at once if that has happened already. f must not block.
func (w *Work) WhenLost(f func()) {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.notify = f
	lost := w.lost && !w.over
	w.mu.Unlock()
	if lost {
		f()
	}
}

// End releases the work's hold on the clock.
func (w *Work) End() {
	if w == nil {
		return
	}
	w.mu.Lock()
	holds := !w.over && !w.lost && w.waits == 0
	w.over = true
	if w.limit != nil {
		w.limit.Stop()
	}
	w.mu.Unlock()
	if holds {
		w.clock.Release()
	}
}

// lose takes the hold away from work that has exceeded its patience.
func (w *Work) lose() {
	w.mu.Lock()
	holds := !w.over && !w.lost && w.waits == 0 && time.Since(w.since) >= w.patience
	w.lost = w.lost || holds
	notify := w.notify
	w.mu.Unlock()
	if holds {
		if notify != nil {
			notify()
		}
		w.clock.Release()
	}
}

// Holding returns a context whose owner holds the clock itself, without a Work.
func Holding(ctx context.Context) context.Context {
	return context.WithValue(ctx, working{}, (*Work)(nil))
}

// IsHolding reports whether the context belongs to work that holds the clock.
func IsHolding(ctx context.Context) bool {
	_, ok := ctx.Value(working{}).(*Work)
	return ok
}

// Yield releases the hold of the work that ctx belongs to, so that the work can wait for something else. If ctx
// belongs to no work, Yield releases one hold of the caller. The work must call resume once when it continues. The
// event that lets it continue must hold the clock until then.
func (c *Clock) Yield(ctx context.Context) (resume func()) {
	w, _ := ctx.Value(working{}).(*Work)
	if c.mode == realTime || w == nil || w.clock != c {
		c.Release()
		return c.Hold
	}
	w.mu.Lock()
	w.waits++
	holds := w.waits == 1 && !w.lost && !w.over
	if holds && w.limit != nil {
		w.limit.Stop()
	}
	w.mu.Unlock()
	if holds {
		c.Release()
	}
	return w.resume
}

// resume ends a Yield. It also shows that the work is not hung: if the work had lost its hold, it gets it back.
func (w *Work) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits--
	if w.waits > 0 || w.over {
		return
	}
	w.lost = false
	if w.limit != nil {
		w.since = time.Now()
		w.limit.Reset(w.patience)
	}
	w.clock.Hold()
}
