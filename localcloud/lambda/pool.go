package lambda

import (
	"context"
	"errors"
	"sync"
	"time"
)

// runner makes the execution environments of one function: by calling its
// handler or by running its bootstrap.
type runner interface {
	newEnvironment() environment
}

// environment runs one invocation at a time.
type environment interface {
	// run answers c. It ends early when ctx does; the answer is void then.
	// usable tells whether the environment can take another invocation;
	// errStale that it was gone before it took this one.
	run(ctx context.Context, c *call) (a answer, usable bool, err error)
	// close ends the environment and waits until it has ended.
	close()
}

// call is one invocation on its way to an environment.
type call struct {
	requestID string
	arn       string
	payload   []byte
	timeout   time.Duration
	log       *invocationLog // nil when nobody wants a log
}

// pool keeps a function's idle environments, starts new ones on demand, and
// makes callers wait when all that may exist are busy.
type pool struct {
	runner runner
	slots  chan struct{}

	mu   sync.Mutex
	idle []environment
}

func newPool(r runner, limit int) *pool {
	return &pool{runner: r, slots: make(chan struct{}, limit)}
}

// run answers c in an idle environment or in a new one.
func (p *pool) run(ctx context.Context, c *call) (answer, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	defer func() { <-p.slots }()
	for {
		env := p.take()
		a, usable, err := env.run(ctx, c)
		if usable {
			p.put(env)
		} else {
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
		env := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return env
	}
	return p.runner.newEnvironment()
}

func (p *pool) put(env environment) {
	p.mu.Lock()
	p.idle = append(p.idle, env)
	p.mu.Unlock()
}

// close ends the idle environments; nobody runs any more.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, env := range idle {
		env.close()
	}
}
