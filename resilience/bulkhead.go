package resilience

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"
)

// BulkheadConfig has the sizes of a [Bulkhead].
type BulkheadConfig struct {
	// Concurrent is the maximum number of calls that run at a time; at least 1.
	Concurrent int
	// Queue is the maximum number of calls that wait in addition; 0 or more.
	Queue int
	// QueueTimeout is the maximum wait of each of them; 0 means as long as its context lasts.
	QueueTimeout time.Duration
	// Clock measures QueueTimeout; nil means the machine's.
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

// NewBulkhead returns a bulkhead; the error for an invalid size is a [*ConfigError].
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

// newBulkhead makes a bulkhead whose sizes make sense.
func newBulkhead(s BulkheadConfig) *Bulkhead {
	if s.Clock == nil {
		s.Clock = machineClock{}
	}
	return &Bulkhead{config: s, clock: s.Clock}
}

// Enter waits for a place to run, which Leave returns. It fails with an error that wraps [ErrBulkheadFull] or
// [ErrQueueTimeout], or with the context's error.
func (b *Bulkhead) Enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
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
		return ctx.Err()
	case <-late:
		if !b.giveUp(p, at, true) {
			return nil // it was admitted at the same moment
		}
		return &stop{ErrQueueTimeout, b.config.QueueTimeout.String()}
	}
}

// giveUp leaves the queue; it returns false if the place has already been admitted.
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

// Leave passes the place on to the caller that has waited longest, or frees it.
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
	// Admitted, Full and TimedOut count the calls that ran, that found no place, and that waited too long.
	Admitted, Full, TimedOut int64
}

// Statistics returns how many calls run and wait now, and how many were admitted and refused so far.
func (b *Bulkhead) Statistics() BulkheadStatistics {
	b.mu.Lock()
	defer b.mu.Unlock()
	return BulkheadStatistics{b.running, b.queue.Len(), b.admitted, b.full, b.timedOut}
}

// Settings returns the sizes.
func (b *Bulkhead) Settings() BulkheadConfig { return b.config }
