package clock

import (
	"context"
	"sync"
	"time"
)

// Work is something that holds the clock while it is carried out, such as a task. How long it really takes does not
// count in virtual time, unless it takes so long that it is taken to hang: then virtual time goes on without it, to the
// timeout of whoever waits for it.
type Work struct {
	clock    *Clock
	patience time.Duration

	mu    sync.Mutex
	waits int         // for what it has given its hold up by itself
	lost  bool        // its hold was taken away
	over  bool        // it has ended
	since time.Time   // of the last that was heard of it
	limit *time.Timer // takes the hold away; nil without patience, that is without an end of it
}

type working struct{}

// Begin holds the clock for a piece of work until its End. The context is the work's: Sleep, Park and Yield with it, or
// one made of it, give up the work's hold. patience is how much real time the work may take between two of these before
// it loses its hold; 0 is as much as it likes. A clock whose time is not virtual holds for nobody; then the context is
// unchanged, and the Work nil, which can be ended, too.
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

// End releases what the work holds of the clock.
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

// lose takes the hold away.
func (w *Work) lose() {
	w.mu.Lock()
	holds := !w.over && !w.lost && w.waits == 0 && time.Since(w.since) >= w.patience
	w.lost = w.lost || holds
	w.mu.Unlock()
	if holds {
		w.clock.Release()
	}
}

// Holding marks the context of what holds the clock by itself, without being Work.
func Holding(ctx context.Context) context.Context {
	return context.WithValue(ctx, working{}, (*Work)(nil))
}

// IsHolding reports whether the context is that of work that holds the clock.
func IsHolding(ctx context.Context) bool {
	_, ok := ctx.Value(working{}).(*Work)
	return ok
}

// Yield gives up the hold of the work whose context this is while it waits for something else to happen; of a context
// that is no work's, one hold that the caller has. The work calls what is returned, once, when it goes on; whoever lets
// it go on holds the clock until then.
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

// resume ends what Yield began. The work is heard of again: a hold that it had lost it gets back.
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
