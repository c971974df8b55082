package configuration

import (
	"context"
	"sync"
	"time"

	"stepback/adaptive/worth"
)

// Source is where configurations are read.
type Source interface {
	// Load returns the configuration of the state machine of a name; nil when there is none.
	Load(ctx context.Context, machine string) (*Configuration, error)
}

// Reader reads the configuration of a state machine every so often. Its exported fields are set before it is used; it
// is safe for concurrent use.
type Reader struct {
	Source  Source
	Machine string
	// Every is for how long a reading is good; a minute when 0. Timeout bounds a reading; 200 ms when 0.
	Every, Timeout time.Duration
	// Now is the clock; the machine's when nil.
	Now func() time.Time
	// Unavailable is told when the configuration could not be read; nil is not called.
	Unavailable func(error)

	mu    sync.Mutex
	known *Configuration
	asked time.Time
}

// Current is the present configuration, or nil. It reads at most once in Every; while one call reads, others go by what
// was read last. A reading that fails leaves the one before until that ends.
func (r *Reader) Current(ctx context.Context) *Configuration {
	now := r.now()
	r.mu.Lock()
	every := r.Every
	if every <= 0 {
		every = time.Minute
	}
	stale := r.asked.IsZero() || now.Sub(r.asked) >= every || now.Before(r.asked)
	if stale {
		r.asked = now
	}
	r.mu.Unlock()
	if stale {
		r.read(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || !now.Before(r.known.Until) {
		return nil
	}
	return r.known
}

func (r *Reader) read(ctx context.Context) {
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	c, err := r.Source.Load(ctx, r.Machine)
	if err != nil {
		if r.Unavailable != nil {
			r.Unavailable(err)
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = c
}

func (r *Reader) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// Decide is [Configuration.Decide] by the present configuration; without one, or where it says nothing, the answer is
// to retry, and false.
func (r *Reader) Decide(ctx context.Context, a Attempt) (worth.Decision, bool) {
	c := r.Current(ctx)
	if c == nil {
		return worth.Decision{Retry: true}, false
	}
	if a.Failed.IsZero() {
		a.Failed = r.now()
	}
	return c.Decide(a)
}
