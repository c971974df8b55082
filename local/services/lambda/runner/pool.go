package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// runner makes the execution environments of one function: by calling its handler or by running its bootstrap.
type runner interface {
	newEnvironment() environment
}

// environment runs one invocation at a time.
type environment interface {
	// run answers c. It ends early when ctx or the service does; the answer is void then. usable tells whether the
	// environment can take another invocation; errStale that it was gone before it took this one.
	run(ctx context.Context, c *call) (a answer, usable bool, err error)
	// close ends the environment and waits until it has ended.
	close()
}

// call is one invocation on its way to an environment.
type call struct {
	requestID     string
	arn           string
	payload       []byte
	clientContext []byte // JSON; empty when the caller sent none
	trace         string // the header that the function is given; empty for one that names no trace
	timeout       time.Duration
	closing       <-chan struct{} // closed when the service closes
	log           *invocationLog  // nil when nobody wants a log
}

// pool keeps a function's idle environments, starts new ones on demand, and makes callers wait when all that may exist
// are busy. Those who hold the pool keep it, and the function's code, from being released.
type pool struct {
	runner  runner
	slots   chan struct{}
	drained func() // nil when nobody wants to know
	room    *Room  // of which the environments take some; nil for handlers

	mu      sync.Mutex
	idle    []idleEnvironment // the one used last at the end
	users   int
	retired bool
}

type idleEnvironment struct {
	environment
	since time.Time
}

func newPool(r runner, limit int, drained func()) *pool {
	return &pool{runner: r, slots: make(chan struct{}, limit), drained: drained}
}

func (p *pool) hold() {
	p.mu.Lock()
	p.users++
	p.mu.Unlock()
}

func (p *pool) release() {
	p.mu.Lock()
	p.users--
	last := p.retired && p.users == 0
	p.mu.Unlock()
	if last && p.drained != nil {
		p.drained()
	}
}

// run answers c in an idle environment or in a new one.
func (p *pool) run(ctx context.Context, c *call) (answer, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return answer{}, ctx.Err()
	case <-c.closing:
		return answer{}, errClosed
	}
	defer func() { <-p.slots }()
	for {
		env := p.take()
		a, usable, err := env.run(ctx, c)
		if !usable || !p.put(env) {
			env.close()
		}
		if !errors.Is(err, errStale) {
			return a, err
		}
	}
}

// take returns the environment that was used last, so that few stay warm.
func (p *pool) take() environment {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		env := p.idle[n-1].environment
		p.idle[n-1] = idleEnvironment{}
		p.idle = p.idle[:n-1]
		return env
	}
	return p.runner.newEnvironment()
}

// put keeps an environment for later. It does not when the pool is retired.
func (p *pool) put(env environment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retired {
		return false
	}
	p.idle = append(p.idle, idleEnvironment{env, time.Now()})
	if p.room != nil {
		defer p.room.idled()
	}
	return true
}

// endIdleSince ends the environments that have been idle since t or longer.
func (p *pool) endIdleSince(t time.Time) {
	p.mu.Lock()
	n := 0
	for n < len(p.idle) && !p.idle[n].since.After(t) {
		n++
	}
	old := slices.Clone(p.idle[:n])
	p.idle = slices.Delete(p.idle, 0, n)
	p.mu.Unlock()
	closeAll(old)
}

// retire ends the idle environments now and the others when they come free.
func (p *pool) retire() {
	p.mu.Lock()
	p.retired = true
	p.users++ // until they are closed
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	if p.room != nil {
		p.room.release(p)
	}
	closeAll(idle)
	p.release()
}

func closeAll(list []idleEnvironment) {
	for _, env := range list {
		env.close()
	}
}
