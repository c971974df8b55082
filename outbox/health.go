package outbox

import (
	"sync"
	"time"
)

// Health is the state of a relay.
type Health struct {
	// Running is true once Run or Drain has been called.
	Running bool
	// LastClaim is the time of the relay's last successful claim from its store, by the relay's clock.
	LastClaim time.Time
	// Failing is the last error of the store since LastClaim; nil if there was none.
	Failing error
	// FailingSince is the time of the first of these errors.
	FailingSince time.Time
	// Held is the number of messages that are claimed and not settled.
	Held int
	// Overruns is the number of sends that have not returned although their context has ended.
	Overruns int
}

// Health returns the state of the relay, for a health check.
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
