package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"stepback/engine"
)

// recovery measures how soon unfinished executions continue after a crash. The floor is the time to read them.
func recovery() measurement {
	const n = 100_000
	return measurement{
		name: "recovery of " + thousands(n) + " unfinished executions", unit: "s", target: "≤ 10 s", once: true,
		measure: func(ctx context.Context, dir string) (reading, error) {
			if err := leave(ctx, dir, n, hanging); err != nil {
				return reading{}, err
			}
			b, err := open(dir, nil, neverAnswer)
			if err != nil {
				return reading{}, err
			}
			defer b.Close()
			floor, err := costOf(func() error { return readUnfinished(ctx, b) })
			if err != nil {
				return reading{}, err
			}
			spent, err := costOf(func() error {
				found, err := b.Recover(ctx)
				if err == nil && len(found.Executions) != n {
					err = fmt.Errorf("%d of %d are back", len(found.Executions), n)
				}
				return err
			})
			return reading{value: spent.wall, floor: floor.wall, processor: spent.processor,
				floorProcessor: floor.processor}, err
		},
	}
}

// neverAnswer is an integration that never responds.
func neverAnswer(ctx context.Context, _ *engine.Task) (engine.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The number of executions that wait at a restart, and the states in which executions are left.
const (
	waitingExecutions = 100_000

	hanging = `{"Type":"Task","Resource":"arn:aws:states:::bench:task","TimeoutSeconds":3600,"End":true}`
	waiting = `{"Type":"Wait","Seconds":8640000,"End":true}`
)

// readUnfinished reads all unfinished executions and drops them.
func readUnfinished(ctx context.Context, b *bed) error {
	for _, err := range b.journal.Unfinished(ctx, "arn:") {
		if err != nil {
			return err
		}
	}
	return nil
}

// restart measures how soon a process with n waiting executions of an earlier one starts another execution, from the
// opening of the journal on.
func restart(n int) measurement {
	return measurement{
		name: "restart with " + thousands(n) + " waiting executions, first start", unit: "s", target: "≤ 0.3 s", once: true,
		measure: func(ctx context.Context, dir string) (reading, error) {
			if err := leave(ctx, dir, n, waiting); err != nil {
				return reading{}, err
			}
			var b *bed
			s, err := timed(func() (err error) {
				b, _, err = startBehind(ctx, dir)
				return err
			})
			return reading{value: s}, errors.Join(err, b.Close())
		},
	}
}

// restarted measures how soon all of these executions have been recovered in the background. The floor is the time to
// read them.
func restarted(n int) measurement {
	return measurement{
		name: "restart with " + thousands(n) + " waiting executions, all recovered", unit: "s", once: true,
		measure: func(ctx context.Context, dir string) (r reading, err error) {
			if err := leave(ctx, dir, n, waiting); err != nil {
				return reading{}, err
			}
			var b *bed
			defer func() { err = errors.Join(err, b.Close()) }()
			spent, err := costOf(func() (err error) {
				var ended <-chan int
				if b, ended, err = startBehind(ctx, dir); err != nil {
					return err
				}
				if err := b.AwaitRecovery(ctx); err != nil {
					return err
				}
				if resumed := <-ended; resumed != n {
					return fmt.Errorf("%d of %d are back", resumed, n)
				}
				return nil
			})
			if err != nil {
				return reading{}, err
			}
			floor, err := costOf(func() error { return readUnfinished(ctx, b) })
			return reading{value: spent.wall, floor: floor.wall, processor: spent.processor,
				floorProcessor: floor.processor}, err
		},
	}
}

// startBehind opens the journal, begins to recover in the background and starts an execution. ended receives the number
// of recovered executions.
func startBehind(ctx context.Context, dir string) (b *bed, ended <-chan int, err error) {
	b, err = open(dir, nil, neverAnswer)
	if err != nil {
		return nil, nil, err
	}
	resumed := make(chan int, 1)
	if err := b.RecoverInBackground(func(n int, _ *engine.Recovered, _ error) { resumed <- n }); err != nil {
		return b, nil, err
	}
	m, err := b.Define(engine.Definition{Name: "n", Text: `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`})
	if err != nil {
		return b, nil, err
	}
	return b, resumed, b.run(ctx, m, "new", `{}`)
}

// leave creates executions in a directory and leaves them in a state. A process of its own does it,
// because its heap would determine how often the garbage collector runs during the recovery.
func leave(ctx context.Context, dir string, n int, state string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	//nolint:gosec // this program
	cmd := exec.CommandContext(ctx, self, "-child", leftPrefix+state, "-dir", dir, "-big", strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// leftPrefix begins the names of the jobs of leaveChild.
const leftPrefix = "left "

// leaveChild does the work of leave.
func leaveChild(ctx context.Context, job, dir string, n int) (err error) {
	b, err := open(dir, nil, neverAnswer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	m, err := b.Define(engine.Definition{Name: "m",
		Text: `{"StartAt":"P","States":{"P":{"Type":"Pass","Next":"S"},"S":` + strings.TrimPrefix(job, leftPrefix) + `}}`})
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
