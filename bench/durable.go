package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// fsyncs measures the disk: a record of 200 bytes appended to a file and synced, one after the other.
func fsyncs() measurement {
	const n = 1000
	return measurement{
		name: "disk alone: append of 200 bytes and fsync", unit: "/s", target: "for scale",
		measure: func(_ context.Context, dir string) (reading, error) {
			f, err := os.Create(filepath.Join(dir, "log"))
			if err != nil {
				return reading{}, err
			}
			defer f.Close()
			record := make([]byte, 200)
			s, err := timed(func() error {
				for range n {
					if _, err := f.Write(record); err != nil {
						return err
					}
					if err := f.Sync(); err != nil {
						return err
					}
				}
				return nil
			})
			return reading{value: n / s}, err
		},
	}
}

const writers = 64

// steps measures durable steps: 64 concurrent executions, each of 20 tasks that respond at once. Each response is a
// step that is on disk before the next task is invoked. The floor is the journal alone with 64 writers of the same
// steps.
func steps() measurement {
	const tasks, executions = 20, 2000
	return measurement{
		name: "durable steps of tasks, 64 executions at a time", unit: "/s",
		target: "≥ 0.5 × the journal's group commit",
		measure: func(ctx context.Context, dir string) (reading, error) {
			return besideFloor(func() (float64, error) {
				return groupCommit(filepath.Join(dir, "floor"), writers, executions*tasks)
			}, func() (float64, error) {
				b, err := open(dir, nil, answer)
				if err != nil {
					return 0, err
				}
				defer b.Close()
				m, err := b.Define(engine.Definition{Name: "steps", Text: taskChain(tasks)})
				if err != nil {
					return 0, err
				}
				rate, err := clients(writers, executions, func(_, n int) error {
					return b.run(ctx, m, fmt.Sprintf("e%d", n), `{"n":1}`)
				})
				return rate * (tasks + 1), err
			})
		},
	}
}

// taskChain returns a definition with tasks in a row.
func taskChain(tasks int) string {
	const task = `"T%d":{"Type":"Task","Resource":"arn:aws:states:::bench:task",`
	d := []byte(`{"StartAt":"T1","States":{`)
	for i := 1; i < tasks; i++ {
		d = fmt.Appendf(d, task+`"Next":"T%d"},`, i, i+1)
	}
	return string(fmt.Appendf(d, task+`"End":true}}}`, tasks))
}

// groupCommit returns the journal's own rate with several writers, each of which waits until its step is durable.
func groupCommit(dir string, writers, n int) (float64, error) {
	j, err := pebble.Open(dir, pebble.Config{})
	if err != nil {
		return 0, err
	}
	defer j.Close()
	at := time.Now()
	executions := make([]journal.Execution, writers)
	counts := make([]int64, writers)
	results := make([]chan error, writers)
	for w := range writers {
		executions[w] = journal.Execution{Status: history.Running, Info: history.Info{
			ARN: fmt.Sprintf("arn:aws:states:us-east-1:000000000000:execution:bench:e%d", w),
		}}
		results[w] = make(chan error, 1)
	}
	return clients(writers, n, func(w, _ int) error {
		counts[w]++
		j.Commit(stepOf(&executions[w], counts[w], at), func(err error) { results[w] <- err })
		return <-results[w]
	})
}

// stepOf returns the record that the engine commits when a task has responded and the next one is scheduled.
func stepOf(x *journal.Execution, step int64, at time.Time) *journal.Record {
	details := &history.Details{Resource: "task", ResourceType: "bench", Region: "us-east-1"}
	produced := []history.Event{
		{Type: history.TaskSucceeded, Data: `{"b":2}`, More: details}, {Type: history.TaskStateExited, Name: "T1",
			Data: `{"b":2}`},
		{Type: history.TaskStateEntered, Name: "T2", Data: `{"b":2}`}, {Type: history.TaskScheduled, Data: `{"b":2}`,
			More: details},
		{Type: history.TaskStarted, More: details},
	}
	for i := range produced {
		id := step*int64(len(produced)) + int64(i)
		produced[i].ID, produced[i].Previous, produced[i].Time = id+1, id, at.UnixNano()
	}
	r := journaltest.Second(x)
	r.Step, r.History = step, produced
	return r
}
