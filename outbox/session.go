package outbox

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// session is one Run of a relay: a goroutine that claims, workers that send, one that records outcomes and extends
// the leases, and three in the background that listen, tidy and watch the workers.
type session struct {
	*Relay
	drain bool
	soft  context.Context // ends when the relay is to stop: no more sends start
	hard  context.Context // ends when the grace is over: running sends are cancelled

	work     chan []*Delivery // one message, several to be sent at once, or several with one key
	outcomes chan Settlement  // large enough for every message that can be held, so that sending to it never blocks
	wake     chan struct{}    // there may be something to claim
	freed    chan struct{}    // something was settled
	idle     chan struct{}    // closed when fetching has ended
	over     chan struct{}    // closed when all outcomes are known

	counts  counts
	workers sync.WaitGroup

	// Used by fetch only: the lease of a claim that failed, and when; empty if there is none.
	lost   string
	lostAt time.Time

	mu       sync.Mutex
	held     map[int64]holding
	bytes    int // total size of the payloads held
	all      []*worker
	overruns int
	settled  error // error of the last Settle, while outcomes wait for it
}

// holding describes a message between its claim and its settlement.
type holding struct {
	lease string
	bytes int
}

type counts struct{ sent, failed, dead atomic.Int64 }

func (c *counts) drained() Drained {
	return Drained{Sent: c.sent.Load(), Failed: c.failed.Load(), Dead: c.dead.Load()}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// room returns the number of messages and bytes that may be claimed now.
func (s *session) room() (messages, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(s.cfg.Batch, 2*s.cfg.Batch-len(s.held)), s.cfg.Bytes - s.bytes
}

func (s *session) holds() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

func (s *session) hold(all []*Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range all {
		s.bytes -= s.held[d.Seq].bytes // it was held before, and its lease expired
		s.held[d.Seq] = holding{d.Lease, len(d.Payload)}
		s.bytes += len(d.Payload)
	}
	s.health.hold(len(s.held), s.overruns)
}

func (s *session) let(all []Settlement) {
	s.mu.Lock()
	for _, o := range all {
		if h, ok := s.held[o.Seq]; ok && h.lease == o.Lease {
			s.bytes -= h.bytes
			delete(s.held, o.Seq)
		}
	}
	s.health.hold(len(s.held), s.overruns)
	s.mu.Unlock()
	poke(s.freed)
}

// pause waits for d, for a wake-up, or for a message to be settled. It returns false if the relay is to stop.
func (s *session) pause(d time.Duration, wake, freed <-chan struct{}) bool {
	rang, stop := s.cfg.Clock.Timer(d)
	defer stop()
	select {
	case <-rang:
	case <-wake:
	case <-freed:
	case <-s.soft.Done():
		return false
	}
	return true
}
