package events

import (
	"sync"
	"time"
)

// rates limits how often API destinations are called. The zero value is ready to use.
type rates struct {
	mu       sync.Mutex
	buckets  map[string]*bucket
	reserved map[string]bool // letters that already have a reserved call
}

// bucket is a token bucket that holds at most one second's calls. It goes below zero when calls are reserved in
// advance.
type bucket struct {
	calls float64
	at    time.Time
}

// slot returns when a letter may be sent; the zero time means now. A letter that comes back at its reserved time may
// be sent at once.
func (r *rates) slot(destination string, rate int64, letter string, now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reserved[letter] {
		delete(r.reserved, letter)
		return time.Time{}
	}
	b := r.buckets[destination]
	if b == nil {
		if r.buckets == nil {
			r.buckets, r.reserved = map[string]*bucket{}, map[string]bool{}
		}
		b = &bucket{calls: float64(rate), at: now}
		r.buckets[destination] = b
	}
	b.calls = min(float64(rate), b.calls+now.Sub(b.at).Seconds()*float64(rate))
	b.at = now
	b.calls--
	if b.calls >= 0 {
		return time.Time{}
	}
	r.reserved[letter] = true
	return now.Add(time.Duration(-b.calls / float64(rate) * float64(time.Second)))
}

// tokens caches the access token of each connection. The zero value is ready to use.
type tokens struct {
	mu sync.Mutex
	of map[string]accessToken
}

type accessToken struct {
	text  string
	until time.Time
}

func (t *tokens) get(connection string, now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.of[connection]; now.Before(k.until) {
		return k.text
	}
	return ""
}

func (t *tokens) put(connection, text string, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]accessToken{}
	}
	t.of[connection] = accessToken{text, until}
}

func (t *tokens) forget(connection string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, connection)
}
