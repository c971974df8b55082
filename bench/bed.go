package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal/pebble"
)

// bed is a test bed: an engine on a durable journal.
type bed struct {
	*engine.Engine
	clock   *clock.Clock
	journal *pebble.Journal
}

// task implements an integration with one function.
type task func(ctx context.Context, t *engine.Task) (engine.Result, error)

// Invoke implements engine.Integration.
func (f task) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) { return f(ctx, t) }

// answer is an integration that responds at once.
func answer(context.Context, *engine.Task) (engine.Result, error) {
	return engine.TextResult(`{"b":2}`), nil
}

// open opens an engine on the journal in a directory.
func open(dir string, objects engine.Objects, f task) (*bed, error) {
	j, err := pebble.Open(filepath.Join(dir, "journal"), pebble.Config{})
	if err != nil {
		return nil, err
	}
	b := &bed{clock: clock.Real(), journal: j}
	b.Engine, err = engine.New(engine.Config{
		Clock: b.clock, Journal: j, Objects: objects, TempDir: dir,
		Integrations: new(engine.Integrations).Handle("bench", "task", f),
	})
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return b, nil
}

// Close closes the engine, its clock and its journal. A nil bed has none.
func (b *bed) Close() error {
	if b == nil {
		return nil
	}
	b.Engine.Close()
	b.clock.Close()
	return b.journal.Close()
}

// run starts an execution and waits for its end, which must be a success.
func (b *bed) run(ctx context.Context, m *engine.StateMachine, name, input string) error {
	started, err := b.Start(ctx, &engine.Start{Machine: m, Origin: engine.Origin{Name: name, Input: input}})
	if err != nil {
		return err
	}
	x, err := started.Wait(ctx)
	if err == nil && x.Status != history.Succeeded {
		err = fmt.Errorf("%s is %s: %s: %s", x.ARN, x.Status, x.Failure.Name, x.Failure.Cause)
	}
	return err
}

// clients lets several goroutines process n numbers and returns the rate per second.
func clients(goroutines, n int, work func(client, number int) error) (perSecond float64, err error) {
	var next atomic.Int64
	var done sync.WaitGroup
	var mu sync.Mutex
	seconds, _ := timed(func() error {
		for c := range goroutines {
			done.Go(func() {
				for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
					if failed := work(c, i); failed != nil {
						mu.Lock()
						err = errors.Join(err, failed)
						mu.Unlock()
						return
					}
				}
			})
		}
		done.Wait()
		return nil
	})
	return float64(n) / seconds, err
}
