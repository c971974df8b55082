package runner

import (
	"context"
	"sync"
	"time"
)

// Room bounds the processes of all functions of the services that share it, however many functions there are: how many
// there may be at one time, and how much memory their functions' settings may add up to. When there is no room, the
// process that has been idle longest is ended for another function's; when none is idle, invocations wait. An
// invocation that waits for another one's answer keeps its room meanwhile.
type Room struct {
	processes, memoryMB int

	mu      sync.Mutex
	used    int
	usedMB  int
	freed   chan struct{} // closed when there is more room
	holders map[*pool]struct{}
}

// NewRoom makes room for a number of processes and for megabytes of memory; 0 of either is no bound.
func NewRoom(processes, memoryMB int) *Room {
	return &Room{processes: processes, memoryMB: memoryMB, freed: make(chan struct{}), holders: map[*pool]struct{}{}}
}

// enter takes room for a process with so much memory, and waits for it. What is larger than all room has it alone.
func (r *Room) enter(ctx context.Context, closing <-chan struct{}, memoryMB int) error {
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

// leave gives room back.
func (r *Room) leave(memoryMB int) {
	r.mu.Lock()
	r.used--
	r.usedMB -= memoryMB
	r.tell()
	r.mu.Unlock()
}

// tell wakes all that wait.
func (r *Room) tell() {
	close(r.freed)
	r.freed = make(chan struct{})
}

// stalest is the pool with the process that has been idle longest; nil when none is idle.
func (r *Room) stalest() *pool {
	var found *pool
	var since time.Time
	for p := range r.holders {
		if t, ok := p.idleSince(); ok && (found == nil || t.Before(since)) {
			found, since = p, t
		}
	}
	return found
}

// hold has the room end idle processes of a pool for others; release ends that.
func (r *Room) hold(p *pool) {
	r.mu.Lock()
	r.holders[p] = struct{}{}
	r.mu.Unlock()
}

func (r *Room) release(p *pool) {
	r.mu.Lock()
	delete(r.holders, p)
	r.mu.Unlock()
}

// idled tells those who wait that a process has become idle, which may be ended for theirs.
func (r *Room) idled() {
	r.mu.Lock()
	r.tell()
	r.mu.Unlock()
}

// idleSince is since when the process is idle that has been so longest.
func (p *pool) idleSince() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return time.Time{}, false
	}
	return p.idle[0].since, true
}

// endStalest ends the process that has been idle longest, and reports whether there was one.
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
