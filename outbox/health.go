package outbox

import (
	"sync"
	"time"
)

// Health is how a relay is.
type Health struct {
	// Running says that Run or Drain was called.
	Running bool
	// LastClaim is when the relay last asked its store for messages and got an answer, by the relay's clock.
	LastClaim time.Time
	// Failing is what the store answered since, nil when it works.
	Failing error
	// FailingSince is when it began to fail.
	FailingSince time.Time
	// Held is how many messages are claimed and not settled.
	Held int
	// Overruns is how many sends have not returned although their context has ended.
	Overruns int
}

// Health tells how the relay is, for a health check.
func (r *Relay) Health() Health {
	r.health.mu.Lock()
	defer r.health.mu.Unlock()
	return r.health.Health
}

type healthRecord struct {
	mu sync.Mutex
	Health
}

func (h *healthRecord) begin(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Health = Health{Running: true, LastClaim: now}
}

func (h *healthRecord) claimed(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.LastClaim, h.Failing, h.FailingSince = now, nil, time.Time{}
}

func (h *healthRecord) failed(now time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Failing == nil {
		h.FailingSince = now
	}
	h.Failing = err
}

func (h *healthRecord) hold(held, overruns int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Held, h.Overruns = held, overruns
}
