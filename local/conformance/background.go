package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
)

// Backgrounds is a Service that must be informed while programs run concurrently with a case's main one. Background
// is called when such a program starts, and returns a function to call when it ends. While programs run in the
// background, the service is called from several goroutines.
type Backgrounds interface {
	Background() (ended func())
}

// background runs the additional programs of a case concurrently with its main one.
type background struct {
	on    Service
	names *Names
	begun map[int]bool
	all   sync.WaitGroup

	mu   sync.Mutex
	errs []error
}

// begin starts a program at its first step; for its later steps it does nothing.
func (b *background) begin(ctx context.Context, c *Case, thread int) {
	if b.begun[thread] {
		return
	}
	if b.begun == nil {
		b.begun = map[int]bool{}
	}
	b.begun[thread] = true
	ended := func() {}
	if told, ok := b.on.(Backgrounds); ok {
		ended = told.Background()
	}
	b.all.Go(func() {
		defer ended()
		if err := b.run(ctx, c, thread); err != nil {
			b.mu.Lock()
			b.errs = append(b.errs, err)
			b.mu.Unlock()
		}
	})
}

// wait waits for the programs and returns their errors.
func (b *background) wait() error {
	b.all.Wait()
	return errors.Join(b.errs...)
}

func (b *background) run(ctx context.Context, c *Case, thread int) error {
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Thread == nil || *s.Thread != thread {
			continue
		}
		answer, err := b.step(ctx, s)
		if err == nil && answer.Code != "" && !s.Error {
			err = fmt.Errorf("%s: %s", answer.Code, answer.Message)
		}
		if err != nil {
			return fmt.Errorf("background program %d, step %d, %s: %w", thread, s.N, s.Op, err)
		}
	}
	return nil
}

// step runs a step. A ReceiveMessage step polls until there is a message.
func (b *background) step(ctx context.Context, s *Step) (*Answer, error) {
	if s.Op != "ReceiveMessage" {
		return call(ctx, s, b.names, b.on)
	}
	polling := *s
	polling.Params = maps.Clone(s.Params)
	polling.Params["WaitTimeSeconds"] = 1
	for ctx.Err() == nil {
		answer, err := call(ctx, &polling, b.names, b.on)
		if err != nil || answer.Code != "" {
			return answer, err
		}
		if messages, _ := answer.Result["Messages"].([]any); len(messages) > 0 {
			return answer, nil
		}
	}
	return nil, ctx.Err()
}
