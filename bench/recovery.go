package main

import (
	"context"
	"errors"
	"fmt"

	"stepback/engine"
)

// recovery measures how soon unfinished executions continue after a crash. The floor is the time to read them.
func recovery() measurement {
	const n = 100_000
	return measurement{
		name: "recovery of " + thousands(n) + " unfinished executions", unit: "s", target: "≤ 10 s", once: true,
		measure: func(ctx context.Context, dir string) (reading, error) {
			if err := leave(ctx, dir, n); err != nil {
				return reading{}, err
			}
			b, err := open(dir, nil, neverAnswer)
			if err != nil {
				return reading{}, err
			}
			defer b.Close()
			floor, err := timed(func() error {
				for _, err := range b.journal.Unfinished(ctx, "arn:") {
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return reading{}, err
			}
			s, err := timed(func() error {
				found, err := b.Recover(ctx)
				if err == nil && len(found.Executions) != n {
					err = fmt.Errorf("%d of %d are back", len(found.Executions), n)
				}
				return err
			})
			return reading{value: s, floor: floor}, err
		},
	}
}

// neverAnswer is an integration that never responds.
func neverAnswer(ctx context.Context, _ *engine.Task) (engine.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// leave creates executions in a directory and leaves them waiting for a task.
func leave(ctx context.Context, dir string, n int) (err error) {
	b, err := open(dir, nil, neverAnswer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	m, err := b.Define(engine.Definition{Name: "m", Text: `{"StartAt":"P","States":{"P":{"Type":"Pass","Next":"T"},
		"T":{"Type":"Task","Resource":"arn:aws:states:::bench:task","TimeoutSeconds":3600,"End":true}}}`})
	if err != nil {
		return err
	}
	_, err = clients(256, n, func(_, i int) error {
		_, err := b.StartExecution(ctx, m.ARN, fmt.Sprintf("e%d", i),
			`{"n":1,"text":"a payload of a usual size, not too small"}`)
		return err
	})
	return err
}
