package local

import (
	"context"
	"sync"
)

// claims are the names currently held.
type claims struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the name is free again
}

// Claim waits until a name is free, and holds it until release is called. It serializes work that cannot be done at
// the same time on one platform, such as two imports that deploy the same state machine. The error is that of ctx.
func (p *Platform) Claim(ctx context.Context, name string) (release func(), err error) {
	c := &p.claims
	for {
		c.mu.Lock()
		other := c.held[name]
		if other == nil {
			own := make(chan struct{})
			if c.held == nil {
				c.held = map[string]chan struct{}{}
			}
			c.held[name] = own
			c.mu.Unlock()
			return sync.OnceFunc(func() {
				c.mu.Lock()
				delete(c.held, name)
				c.mu.Unlock()
				close(own)
			}), nil
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
