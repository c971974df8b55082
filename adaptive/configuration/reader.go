package configuration

import (
	"context"
	"sync"
	"time"

	"stepback/adaptive/predict"
	"stepback/adaptive/worth"
)

// Source loads configurations.
type Source interface {
	// Load returns the configuration of the named state machine, or nil if there is none.
	Load(ctx context.Context, machine string) (*Configuration, error)
}

// Models provides a model that is kept apart from the configuration, because it is large.
type Models interface {
	// Current returns the model in use, or nil if there is none. It may load the model, and is safe for concurrent
	// use.
	Current(ctx context.Context) *predict.Model
}

// Reader reads the configuration of a state machine periodically. Set its exported fields before use; it is safe for
// concurrent use.
type Reader struct {
	Source  Source
	Machine string
	// Models provides the model for configurations that contain none; nil means none.
	Models Models
	// Every is the time for which a loaded configuration is used; 0 means a minute. Timeout limits one load; 0
	// means 200 ms.
	Every, Timeout time.Duration
	// Now is the clock; nil means the machine's.
	Now func() time.Time
	// Unavailable, if not nil, is called when the configuration could not be loaded.
	Unavailable func(error)

	mu    sync.Mutex
	known *Configuration
	asked time.Time
}

// Current returns the present configuration, or nil if there is none. It loads at most once per Every; while one
// call loads, concurrent calls use the configuration loaded last. If a load fails, the previous configuration stays
// in use until it expires.
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

// Decide calls [Configuration.Decide] on the present configuration. If there is none, or it does not cover the
// attempt, the decision is to retry and the result is false.
func (r *Reader) Decide(ctx context.Context, a Attempt) (worth.Decision, bool) {
	c := r.Current(ctx)
	if c == nil {
		return worth.Decision{Retry: true}, false
	}
	if a.Failed.IsZero() {
		a.Failed = r.now()
	}
	if c.Model == nil && r.Models != nil {
		with := *c
		with.Model = r.Models.Current(ctx)
		c = &with
	}
	return c.Decide(a)
}
