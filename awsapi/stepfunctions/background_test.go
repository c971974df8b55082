package stepfunctions_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"stepback/engine/conformance"
)

// background are the programs of a case that run beside it. Virtual time stands still while one of them runs.
type background struct {
	world *world
	names *conformance.Names
	begun []int
	sync.WaitGroup
}

// begin starts a program at its first step; later steps find it running.
func (b *background) begin(ctx context.Context, t *testing.T, c *conformance.Case, thread int) {
	t.Helper()
	if slices.Contains(b.begun, thread) {
		return
	}
	b.begun = append(b.begun, thread)
	b.world.clock.Hold()
	b.Go(func() {
		defer b.world.clock.Release()
		for i := range c.Steps {
			if s := &c.Steps[i]; s.Thread != nil && *s.Thread == thread {
				b.step(ctx, t, s)
			}
		}
	})
}

// step carries out a step; one that receives messages waits for the first.
func (b *background) step(ctx context.Context, t *testing.T, s *conformance.Step) {
	t.Helper()
	if s.Op != "ReceiveMessage" {
		if a := b.world.step(ctx, t, s, b.names); a.Code != "" {
			t.Errorf("step %d %s in the background: %s: %s", s.N, s.Op, a.Code, a.Message)
		}
		return
	}
	polling := *s
	polling.Params = map[string]any{"WaitTimeSeconds": 1}
	for k, v := range s.Params {
		polling.Params[k] = v
	}
	for ctx.Err() == nil {
		a := b.world.step(ctx, t, &polling, b.names)
		if messages, _ := a.Result["Messages"].([]any); len(messages) > 0 {
			return
		}
	}
}
