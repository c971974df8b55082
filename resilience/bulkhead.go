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
	// Concurrent is how many calls run at a time; at least 1.
	Concurrent int
	// Queue is how many more may wait; 0 or more.
	Queue int
	// QueueTimeout is how long each of them waits at most; 0 is as long as its context lasts.
	QueueTimeout time.Duration
	// Clock measures QueueTimeout; nil means the machine's.
	Clock Clock
}

// Bulkhead keeps the calls to one service from taking up everything: so many run, so many wait in the order in which
// they came, and the rest is refused at once.
type Bulkhead struct {
	config BulkheadConfig
	clock  Clock

	mu       sync.Mutex
	running  int
	queue    list.List // of *place
	admitted int64
	full     int64
	timedOut int64
}

// place is one caller in the queue.
type place struct{ admitted chan struct{} }

// NewBulkhead makes a bulkhead; a size that makes no sense is a [*ConfigError].
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

// Enter waits for a place to run, which Leave gives back. It fails with an error that wraps [ErrBulkheadFull] or
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
			b.Leave() // it had been admitted at the same moment
		}
		return ctx.Err()
	case <-late:
		if !b.giveUp(p, at, true) {
			return nil // admitted at the same moment
		}
		return &stop{ErrQueueTimeout, b.config.QueueTimeout.String()}
	}
}

// giveUp leaves the queue; false when the place was admitted before.
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

// Leave gives a place back to whoever waits longest.
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

// BulkheadStatistics are what a bulkhead looks like and has counted.
type BulkheadStatistics struct {
	// Running and Queued are the calls of this moment.
	Running, Queued int
	// Admitted, Full and TimedOut count the calls that ran, found no place, and waited too long.
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
