package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// list returns the JSON text of an array of n numbers.
func list(n int) string { return "[1" + strings.Repeat(",1", n-1) + "]" }

// inlineMap measures an inline Map in an EXPRESS execution, because it would exceed the history of a STANDARD one.
func inlineMap() measurement {
	const items = 10_000
	return measurement{
		name: "inline Map of 10,000 items, one Pass each, EXPRESS", unit: "ms", target: "for scale",
		measure: func(ctx context.Context, dir string) (reading, error) {
			b, err := open(dir, nil, answer)
			if err != nil {
				return reading{}, err
			}
			defer b.Close()
			m, err := b.Define(engine.Definition{Name: "m", Text: `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,
				"ItemProcessor":{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}}}}`, Express: true})
			if err != nil {
				return reading{}, err
			}
			s, err := timed(func() error {
				return b.run(ctx, m, "e", list(items))
			})
			return reading{value: s * 1000}, err
		},
	}
}

// distributedMap measures a distributed Map whose child executions each run one Pass state. If each child gets one
// item, the floor is the journal alone with 1,000 executions in flight.
func distributedMap(batch int) measurement {
	const items = 100_000
	target := "≥ 30,000/s"
	if batch > 1 {
		target = "for scale"
	}
	return measurement{
		name: fmt.Sprintf("distributed Map of %s items, Pass child, batch %d, durable", thousands(items), batch),
		unit: "items/s", target: target,
		measure: func(ctx context.Context, dir string) (reading, error) {
			children := func() (float64, error) {
				b, err := open(dir, nil, answer)
				if err != nil {
					return 0, err
				}
				defer b.Close()
				m, err := b.Define(engine.Definition{
					Name: "m", Text: passMap(batch, ``, `"ResultSelector":{"n.$":"States.ArrayLength($)"},`),
				})
				if err != nil {
					return 0, err
				}
				s, err := timed(func() error {
					return b.run(ctx, m, "e", list(items))
				})
				return items / s, err
			}
			if batch == 1 {
				return besideFloor(func() (float64, error) {
					return ends(filepath.Join(dir, "floor"), items)
				}, children)
			}
			rate, err := children()
			return reading{value: rate}, err
		},
	}
}

// passMap returns the definition of a distributed Map whose children each have one Pass state.
func passMap(batch int, reader, rest string) string {
	batcher := ""
	if batch > 1 {
		batcher = fmt.Sprintf(`"ItemBatcher":{"MaxItemsPerBatch":%d},`, batch)
	}
	return `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L",` + reader + batcher + rest +
		`"End":true,"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
		"StartAt":"P","States":{"P":{"Type":"Pass","Result":1,"End":true}}}}}}`
}

// ends returns the journal's own rate of executions that begin and end in one step, with 1,000 of them in flight.
func ends(dir string, n int) (float64, error) {
	j, err := pebble.Open(dir, pebble.Config{})
	if err != nil {
		return 0, err
	}
	defer j.Close()
	const inFlight = 1000
	at := time.Now()
	slots := make(chan error, inFlight)
	seconds, err := timed(func() error {
		for i := range n + inFlight {
			if i >= inFlight {
				if err := <-slots; err != nil {
					return err
				}
			}
			if i < n {
				j.Commit(endOf(i, at), func(err error) { slots <- err })
			} else if i < inFlight {
				slots <- nil
			}
		}
		return nil
	})
	return float64(n) / seconds, err
}

// endOf returns the record that the engine commits for a child execution with one Pass state.
func endOf(i int, at time.Time) *journal.Record {
	events := []history.Event{
		{ID: 1, Type: history.ExecutionStarted, Data: "1", More: &history.Details{}},
		{ID: 2, Type: history.PassStateEntered, Name: "P", Data: "1"},
		{ID: 3, Previous: 2, Type: history.PassStateExited, Name: "P", Data: "1"},
		{ID: 4, Previous: 3, Type: history.ExecutionSucceeded, Data: "1"},
	}
	for k := range events {
		events[k].Time = at.UnixNano()
	}
	name := fmt.Sprintf("01234567-89ab-8000-8000-%012x", i)
	r := journaltest.First(&journal.Execution{
		Info: history.Info{
			ARN: "arn:aws:states:us-east-1:000000000000:execution:m/L:" + name, Items: 1,
			MapRunARN: "arn:aws:states:us-east-1:000000000000:mapRun:m/L:01234567-89ab-8000-8000-000000000000",
			Origin:    history.Origin{Name: name, Input: "1"},
		},
		Status: history.Succeeded, Start: at, Stop: at, Output: "1", HistorySize: 4,
	})
	r.End, r.History, r.All = true, events, events
	return r
}
