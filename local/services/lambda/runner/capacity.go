package runner

import (
	"context"
	"sync"
	"time"
)

// Capacity limits the processes of all functions of the services that share it: their number, and the sum of their
// configured memory. When the limit is reached, the longest-idle process of another function is ended; if none is
// idle, invocations wait. An invocation that waits for the response of another one keeps its place.
type Capacity struct {
	processes, memoryMB int

	mu      sync.Mutex
	used    int
	usedMB  int
	freed   chan struct{} // closed when a place becomes available
	holders map[*pool]struct{}
}

// NewCapacity returns a Capacity with a maximum number of processes and megabytes of memory; 0 means no limit.
func NewCapacity(processes, memoryMB int) *Capacity {
	return &Capacity{processes: processes, memoryMB: memoryMB, freed: make(chan struct{}),
		holders: map[*pool]struct{}{}}
}

// enter acquires a place for a process with the given memory, and waits if needed. A process that needs more than the
// total runs alone.
func (r *Capacity) enter(ctx context.Context, closing <-chan struct{}, memoryMB int) error {
	for {
		r.mu.Lock()
		full := r.processes > 0 && r.used >= r.processes || r.memoryMB > 0 && r.usedMB+memoryMB > r.memoryMB
		if !full || r.used == 0 {
			r.used++
			r.usedMB += memoryMB
			r.mu.Unlock()
			return nil
		}
		freed, idle := r.freed, r.stalest()
		r.mu.Unlock()
		if idle != nil && idle.endStalest() {
			continue
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		case <-closing:
			return errClosed
		}
	}
}

// leave releases a place.
func (r *Capacity) leave(memoryMB int) {
	r.mu.Lock()
	r.used--
	r.usedMB -= memoryMB
	r.tell()
	r.mu.Unlock()
}

// tell wakes all waiting callers.
func (r *Capacity) tell() {
	close(r.freed)
	r.freed = make(chan struct{})
}

// stalest returns the pool with the longest-idle process, or nil if no process is idle.
func (r *Capacity) stalest() *pool {
	var found *pool
	var since time.Time
	for p := range r.holders {
		if t, ok := p.idleSince(); ok && (found == nil || t.Before(since)) {
			found, since = p, t
		}
	}
	return found
}

// hold allows idle processes of the pool to be ended in favour of other functions' processes; release ends that.
func (r *Capacity) hold(p *pool) {
	r.mu.Lock()
	r.holders[p] = struct{}{}
	r.mu.Unlock()
}

func (r *Capacity) release(p *pool) {
	r.mu.Lock()
	delete(r.holders, p)
	r.mu.Unlock()
}

// idled wakes waiting callers, because a process has become idle and may be ended in favour of their processes.
func (r *Capacity) idled() {
	r.mu.Lock()
	r.tell()
	r.mu.Unlock()
}

// idleSince returns the time since which the pool's longest-idle process has been idle.
func (p *pool) idleSince() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return time.Time{}, false
	}
	return p.idle[0].since, true
}

// endStalest ends the pool's longest-idle process, and reports whether there was one.
func (p *pool) endStalest() bool {
	p.mu.Lock()
	if len(p.idle) == 0 {
		p.mu.Unlock()
		return false
	}
	env := p.idle[0].environment
	p.idle = append(p.idle[:0:0], p.idle[1:]...)
	p.mu.Unlock()
	env.close()
	return true
}
