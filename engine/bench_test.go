package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
)

// journals are the journals used by the benchmarks.
var journals = map[string]func(tb testing.TB) journal.Journal{
	"memory": func(testing.TB) journal.Journal { return journal.NewMemory() },
	"durable": func(tb testing.TB) journal.Journal {
		tb.Helper()
		j, err := pebble.Open(filepath.Join(tb.TempDir(), "journal"), pebble.Config{})
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			if err := j.Close(); err != nil {
				tb.Error(err)
			}
		})
		return j
	},
}

func onJournals(b *testing.B, bench func(b *testing.B, e *engine.Engine)) {
	for _, name := range []string{"memory", "durable"} {
		b.Run(name, func(b *testing.B) {
			c := clock.Real()
			defer c.Close()
			e, err := engine.New(engine.Config{Clock: c, Journal: journals[name](b), Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			b.ReportAllocs()
			bench(b, e)
		})
	}
}

func create(b *testing.B, e *engine.Engine, definition string) *engine.StateMachine {
	b.Helper()
	m, err := e.Define(engine.Definition{Name: "bench", Text: definition, RoleARN: "arn:aws:iam::000000000000:role/r"})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// BenchmarkStartExecution starts executions of one Pass state from 64 goroutines and waits for their ends.
func BenchmarkStartExecution(b *testing.B) {
	onJournals(b, func(b *testing.B, e *engine.Engine) {
		m := create(b, e, `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`)
		names := make(chan int)
		var clients sync.WaitGroup
		for range 64 {
			clients.Go(func() {
				for n := range names {
					arn, err := e.StartExecution(context.Background(), m.ARN, fmt.Sprintf("e%d", n), `{"n":1}`)
					if err == nil {
						_, err = e.Wait(context.Background(), arn)
					}
					if err != nil {
						b.Error(err)
					}
				}
			})
		}
		for n := range b.N {
			names <- n
		}
		close(names)
		clients.Wait()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
	})
}

// BenchmarkChildren runs a distributed Map of b.N items with child executions of a single Pass state.
func BenchmarkChildren(b *testing.B) {
	onJournals(b, func(b *testing.B, e *engine.Engine) {
		m := create(b, e, `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","ToleratedFailurePercentage":100,"ResultWriter":{"WriterConfig":{"Transformation":"FLATTEN","OutputType":"JSONL"}},
			"ItemSelector":{"n.$":"$$.Map.Item.Value"},
			"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"P","States":{"P":{"Type":"Pass","Result":[],"End":true}}},"End":true}}}`)
		input := "[1" + strings.Repeat(",1", b.N-1) + "]"
		b.ResetTimer()
		arn, err := e.StartExecution(context.Background(), m.ARN, "e", input)
		if err != nil {
			b.Fatal(err)
		}
		x, err := e.Wait(context.Background(), arn)
		if err != nil || x.Status != history.Succeeded {
			b.Fatalf("%+v, %v", x, err)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "children/s")
	})
}

// BenchmarkRecover recovers b.N executions that are waiting for a task with a timeout.
func BenchmarkRecover(b *testing.B) {
	kept := journals["durable"](b)
	hang := invoke(func(ctx context.Context, _ *engine.Task) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	c := clock.Real()
	defer c.Close()
	cfg := engine.Config{Clock: c, Journal: kept, Integrations: new(engine.Integrations).Handle("test", "call", hang)}
	e, err := engine.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	m := create(b, e, `{"StartAt":"P","States":{"P":{"Type":"Pass","Next":"T"},"T":{`+call+
		`,"TimeoutSeconds":3600,"Next":"Q"},"Q":{"Type":"Pass","End":true}}}`)
	var starts sync.WaitGroup
	slots := make(chan struct{}, 256)
	for n := range b.N {
		slots <- struct{}{}
		starts.Go(func() {
			if _, err := e.StartExecution(context.Background(), m.ARN, fmt.Sprintf("e%d", n),
				`{"n":1,"text":"a payload of a usual size, not too small"}`); err != nil {
				b.Error(err)
			}
			<-slots
		})
	}
	starts.Wait()
	e.Close()
	if e, err = engine.New(cfg); err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	b.ResetTimer()
	b.ReportAllocs()
	found, err := e.Recover(context.Background())
	if err != nil || len(found.Executions) != b.N {
		b.Fatalf("%d of %d, %v", len(found.Executions), b.N, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
}
