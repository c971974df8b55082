package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// runner creates the execution environments of one function, which call its handler or run its bootstrap.
type runner interface {
	newEnvironment() environment
}

// environment runs one invocation at a time.
type environment interface {
	// run performs the invocation c. If ctx ends or the service closes, it returns early and a is invalid. usable
	// reports whether the environment can take another invocation. The error is errStale if the environment had
	// ended before it took this one.
	run(ctx context.Context, c *call) (a answer, usable bool, err error)
	// close ends the environment and waits until it has ended.
	close()
}

// call is one invocation to be run in an environment.
type call struct {
	requestID     string
	arn           string
	payload       []byte
	clientContext []byte // JSON; empty if the caller sent none
	trace         string // the trace header for the function; empty if there is no trace
	timeout       time.Duration
	tenant        string
	stream        *begunStream    // nil if the caller wants the whole response
	closing       <-chan struct{} // closed when the service closes
	log           *invocationLog  // nil if no log is needed
}

// pool manages a function's execution environments. It keeps idle ones, starts new ones on demand, and makes
// callers wait while the maximum number is busy. As long as a caller holds the pool, neither the pool nor the
// function's code is released.
type pool struct {
	runner   runner
	slots    chan struct{}
	drained  func()    // nil if not needed
	capacity *Capacity // limits the environments; nil for handlers

	mu      sync.Mutex
	idle    []idleEnvironment // most recently used last
	users   int
	retired bool
}

type idleEnvironment struct {
	environment
	since time.Time
	// tenant is the tenant whose invocations the environment runs; empty if the function does not isolate tenants.
	tenant string
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

// run performs c in an idle environment or a new one.
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
		env := p.take(c.tenant)
		a, usable, err := env.run(ctx, c)
		if !usable || !p.put(env, c.tenant) {
			env.close()
		}
		if !errors.Is(err, errStale) {
			return a, err
		}
	}
}

// take returns the most recently used idle environment of a tenant, so that few stay warm.
func (p *pool) take(tenant string) environment {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if p.idle[i].tenant == tenant {
			env := p.idle[i].environment
			p.idle = slices.Delete(p.idle, i, i+1)
			return env
		}
	}
	return p.runner.newEnvironment()
}

// put returns an environment to the pool. It returns false if the pool is retired.
func (p *pool) put(env environment, tenant string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retired {
		return false
	}
	p.idle = append(p.idle, idleEnvironment{env, time.Now(), tenant})
	if p.capacity != nil {
		defer p.capacity.idled()
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

// retire ends the idle environments now and the others when they become idle.
func (p *pool) retire() {
	p.mu.Lock()
	p.retired = true
	p.users++ // until they are closed
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	if p.capacity != nil {
		p.capacity.release(p)
	}
	closeAll(idle)
	p.release()
}

func closeAll(list []idleEnvironment) {
	for _, env := range list {
		env.close()
	}
}
