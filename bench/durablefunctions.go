package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/journal/pebble"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/services/lambda/durabletest"
	"stepback/tasks/lambda/invocation"
)

// durableBed runs durable executions of one function, whose code is in this process.
type durableBed struct {
	*durablefunctions.Service
	clock   *clock.Clock
	journal *pebble.Journal
	handler func(context.Context, json.RawMessage) (json.RawMessage, error)
	version durablefunctions.Version
	ended   atomic.Int64 // invocations
}

// Run implements durablefunctions.Functions.
func (b *durableBed) Run(ctx context.Context, _ durablefunctions.Version, r *invocation.Request) (*invocation.Answer,
	error) {
	defer b.ended.Add(1)
	out, err := b.handler(ctx, r.Payload)
	if err != nil {
		return nil, &aws.Error{Code: "ServiceException", Message: err.Error(), Status: http.StatusInternalServerError}
	}
	return &invocation.Answer{StatusCode: http.StatusOK, Payload: out}, nil
}

// Resolve implements durablefunctions.Functions.
func (b *durableBed) Resolve(aws.Scope, string) (durablefunctions.Version, error) {
	return b.version, nil
}

// openDurable opens the executions in a directory.
func openDurable(ctx context.Context, dir string, run durabletest.Program) (*durableBed, error) {
	j, err := pebble.Open(filepath.Join(dir, "journal"), pebble.Config{})
	if err != nil {
		return nil, err
	}
	b := &durableBed{clock: clock.Real(), journal: j, version: durablefunctions.Version{
		Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}, Function: "bench", Number: "1", Qualified: true,
		Timeout: 86_400, Retention: 1}}
	b.handler = durabletest.Handler(durabletest.Service(func() *durablefunctions.Service { return b.Service }), run)
	b.Service, err = durablefunctions.Open(ctx, durablefunctions.Options{Journal: j, Clock: b.clock, Functions: b})
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return b, nil
}

// Close closes the executions, their clock and their journal.
func (b *durableBed) Close() error {
	b.Service.Close()
	b.clock.Close()
	return b.journal.Close()
}

// durableSteps measures the checkpoints of durable functions: 16 executions at a time, each of 20 steps. A step has two
// checkpoints, before and after its work, and each is on disk before the function continues. The floor is the journal
// alone with 16 writers.
func durableSteps() measurement {
	const clientsOf, steps, executions = 16, 20, 500
	return measurement{
		name: "checkpoints of durable functions, 16 executions at a time", unit: "/s",
		target: "≥ 0.6 × the journal's group commit",
		measure: func(ctx context.Context, dir string) (reading, error) {
			floor, err := groupCommit(filepath.Join(dir, "floor"), clientsOf, executions*steps*2)
			if err != nil {
				return reading{}, err
			}
			b, err := openDurable(ctx, dir, func(x *durabletest.Execution, _ json.RawMessage) (any, error) {
				for range steps {
					if _, err := x.Step("step", durabletest.StepOptions{}, func(int) (any, error) { return map[string]int{"b": 2}, nil }); err != nil {
						return nil, err
					}
				}
				return "done", nil
			})
			if err != nil {
				return reading{}, err
			}
			defer b.Close()
			ask := b.version
			ask.Timeout = 900 // what may be invoked synchronously
			rate, err := clients(clientsOf, executions, func(_, n int) error {
				answer, err := b.Invoke(ctx, ask, &invocation.Request{DurableExecutionName: fmt.Sprintf("e%d", n), Payload: []byte(`{"n":1}`)})
				if err == nil && answer.FunctionError != "" {
					err = fmt.Errorf("e%d failed: %s", n, answer.Payload)
				}
				return err
			})
			return reading{value: rate * steps * 2, floor: floor}, err
		},
	}
}

const suspended = 100_000

// pause is a function that is suspended for an hour.
func pause(x *durabletest.Execution, _ json.RawMessage) (any, error) {
	return nil, x.Wait("pause", 3600)
}

// suspend leaves suspended executions in a directory.
func suspend(ctx context.Context, dir string) (err error) {
	b, err := openDurable(ctx, dir, pause)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if _, err = clients(256, suspended, func(_, n int) error {
		_, err := b.Invoke(ctx, b.version, &invocation.Request{DurableExecutionName: fmt.Sprintf("e%d", n), Type: invocation.Event,
			Payload: []byte(`{"n":1,"text":"a payload of a usual size, not too small"}`)})
		return err
	}); err != nil {
		return err
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for b.ended.Load() < suspended { // until each waits
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// reopened returns the time after which the suspended executions of a directory continue, in seconds.
func reopened(ctx context.Context, dir string) (s float64, err error) {
	var b *durableBed
	s, err = timed(func() (err error) {
		if b, err = openDurable(ctx, dir, pause); err != nil {
			return err
		}
		b.Resume()
		return b.AwaitRecovery(ctx)
	})
	if err != nil {
		return s, err
	}
	if n := b.Running()[b.version.Scope]; n != suspended {
		err = fmt.Errorf("%d of %d are back", n, suspended)
	}
	return s, errors.Join(err, b.Close())
}

// durableRestart measures how soon suspended executions of durable functions continue after a restart, and
// durableMemory how much memory the process then has had at most.
func durableRestart() measurement {
	return measurement{
		name: "restart with " + thousands(suspended) + " suspended durable executions", unit: "s", target: "≤ 5 s", once: true,
		measure: func(ctx context.Context, dir string) (reading, error) {
			if err := suspend(ctx, dir); err != nil {
				return reading{}, err
			}
			s, err := reopened(ctx, dir)
			return reading{value: s}, err
		},
	}
}

func durableMemory() measurement {
	return measurement{
		name: "peak memory, restart with " + thousands(suspended) + " suspended durable executions", unit: "MB", target: "≤ 300 MB", once: true,
		measure: func(ctx context.Context, dir string) (reading, error) {
			if err := suspend(ctx, dir); err != nil {
				return reading{}, err
			}
			self, err := os.Executable()
			if err != nil {
				return reading{}, err
			}
			//nolint:gosec // this program
			cmd := exec.CommandContext(ctx, self, "-child", "suspended", "-dir", dir, "-big", strconv.Itoa(suspended))
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				return reading{}, err
			}
			var s reading
			err = json.Unmarshal(out, &s.value)
			return s, err
		},
	}
}
