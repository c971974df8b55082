package resilience

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"stepback/internal/ctxerr"
)

// BulkheadConfig holds the limits of a [Bulkhead].
type BulkheadConfig struct {
	// Concurrent is the maximum number of calls that run at a time; at least 1.
	Concurrent int
	// Queue is the maximum number of calls that wait in addition; 0 or more.
	Queue int
	// QueueTimeout is the maximum time that a call waits; 0 means until its context ends.
	QueueTimeout time.Duration
	// Clock measures QueueTimeout; nil means the system's clock.
	Clock Clock
}

// Bulkhead keeps the calls to one service from using up all resources: a limited number run, a limited number wait in
// order of arrival, and the rest are refused at once.
type Bulkhead struct {
	config BulkheadConfig
	clock  Clock

	mu       sync.Mutex
	running  int
	queue    list.List // elements are *place
	admitted int64
	full     int64
	timedOut int64
}

// place is one caller in the queue.
type place struct{ admitted chan struct{} }

// NewBulkhead returns a bulkhead. For an invalid limit, the error is a [*ConfigError].
func NewBulkhead(s BulkheadConfig) (*Bulkhead, error) {
	if err := needsAtLeast("Concurrent", s.Concurrent, 1); err != nil {
		return nil, err
	}
	if err := needsAtLeast("Queue", s.Queue, 0); err != nil {
		return nil, err
	}
	if s.QueueTimeout < 0 {
		return nil, &ConfigError{"QueueTimeout", s.QueueTimeout.String(), "0 (none) or more"}
	}
	return newBulkhead(s), nil
}

// newBulkhead returns a bulkhead with limits that have been checked.
func newBulkhead(s BulkheadConfig) *Bulkhead {
	if s.Clock == nil {
		s.Clock = machineClock{}
	}
	return &Bulkhead{config: s, clock: s.Clock}
}

// Enter waits until the caller may run; the caller must then call Leave. The error wraps [ErrBulkheadFull] or
// [ErrQueueTimeout], or is the context's error.
func (b *Bulkhead) Enter(ctx context.Context) error {
	if err := ctxerr.Of(ctx); err != nil {
		return err
	}
	b.mu.Lock()
	if b.running < b.config.Concurrent {
		b.running++
		b.admitted++
		b.mu.Unlock()
		return nil
	}
	if waiting := b.queue.Len(); waiting >= b.config.Queue {
		b.full++
		b.mu.Unlock()
		return &stop{ErrBulkheadFull, fmt.Sprintf("%d run, %d wait", b.config.Concurrent, waiting)}
	}
	p := &place{make(chan struct{})}
	at := b.queue.PushBack(p)
	b.mu.Unlock()
	return b.wait(ctx, p, at)
}

func (b *Bulkhead) wait(ctx context.Context, p *place, at *list.Element) error {
	var late chan struct{}
	if b.config.QueueTimeout > 0 {
		late = make(chan struct{})
		defer b.clock.AfterFunc(b.config.QueueTimeout, func() { close(late) })()
	}
	select {
	case <-p.admitted:
		return nil
	case <-ctx.Done():
		if !b.giveUp(p, at, false) {
			b.Leave() // it was admitted at the same moment
		}
		return ctxerr.Of(ctx)
	case <-late:
		if !b.giveUp(p, at, true) {
			return nil // it was admitted at the same moment
		}
		return &stop{ErrQueueTimeout, b.config.QueueTimeout.String()}
	}
}

// giveUp removes a caller from the queue. It returns false if the caller has already been admitted.
func (b *Bulkhead) giveUp(p *place, at *list.Element, late bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-p.admitted:
		return false
	default:
	}
	b.queue.Remove(at)
	if late {
		b.timedOut++
	}
	return true
}

// Leave ends a call, and admits the caller that has waited longest.
func (b *Bulkhead) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if first := b.queue.Front(); first != nil {
		b.queue.Remove(first)
		b.admitted++
		close(first.Value.(*place).admitted)
		return
	}
	b.running--
	if b.running < 0 {
		panic("resilience: Bulkhead.Leave without Enter")
	}
}

// BulkheadStatistics holds the current state and the counts of a bulkhead.
type BulkheadStatistics struct {
	// Running and Queued are the current numbers of calls.
	Running, Queued int
	// Admitted counts the calls that ran, Full the calls that were refused at once, and TimedOut the calls that
	// waited too long.
	Admitted, Full, TimedOut int64
}

// Statistics returns how many calls run and wait now, and how many were admitted and refused so far.
func (b *Bulkhead) Statistics() BulkheadStatistics {
	b.mu.Lock()
	defer b.mu.Unlock()
	return BulkheadStatistics{b.running, b.queue.Len(), b.admitted, b.full, b.timedOut}
}

// Settings returns the bulkhead's configuration.
func (b *Bulkhead) Settings() BulkheadConfig { return b.config }
