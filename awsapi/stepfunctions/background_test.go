package stepfunctions_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"stepback/engine/conformance"
)

// background are the programs of a case that run beside it. Virtual time stands still while one of them runs.
type background struct {
	begun []int
	sync.WaitGroup

	mu  sync.Mutex
	err error
}

// Begin starts a program at its first step; later steps find it running.
func (w *world) Begin(ctx context.Context, c *conformance.Case, thread int, names *conformance.Names) error {
	b := &w.beside
	if slices.Contains(b.begun, thread) {
		return b.failure()
	}
	b.begun = append(b.begun, thread)
	w.clock.Hold()
	b.Go(func() {
		defer w.clock.Release()
		for i := range c.Steps {
			s := &c.Steps[i]
			if s.Thread == nil || *s.Thread != thread {
				continue
			}
			if err := w.aside(ctx, s, names); err != nil {
				b.fail(err)
				return
			}
		}
	})
	return nil
}

// aside carries out a step in the background; one that receives messages waits for the first.
func (w *world) aside(ctx context.Context, s *conformance.Step, names *conformance.Names) error {
	if s.Op != "ReceiveMessage" {
		a, err := conformance.Carry(ctx, s, names, w)
		if err == nil && a.Code != "" {
			err = fmt.Errorf("step %d %s in the background: %s: %s", s.N, s.Op, a.Code, a.Message)
		}
		return err
	}
	polling := *s
	polling.Params = map[string]any{"WaitTimeSeconds": 1}
	maps.Copy(polling.Params, s.Params)
	for ctx.Err() == nil {
		a, err := conformance.Carry(ctx, &polling, names, w)
		if err != nil {
			return err
		}
		if messages, _ := a.Result["Messages"].([]any); len(messages) > 0 {
			return nil
		}
	}
	return ctx.Err()
}

func (b *background) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *background) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
