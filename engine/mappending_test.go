package engine_test

import (
	"context"
	"testing"

	"stepback/engine"
	"stepback/engine/journal"
)

// TestItemsOfTheInputArePendingFromTheStart describes Map Runs while two of their child executions are running.
func TestItemsOfTheInputArePendingFromTheStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		batcher           string
		items, executions engine.Tally
	}{
		"items": {"", engine.Tally{Running: 2, Pending: 5}, engine.Tally{Running: 2, Pending: 5}},
		"batches": {`"ItemBatcher":{"MaxItemsPerBatch":2},`, engine.Tally{Running: 4, Pending: 3},
			engine.Tally{Running: 2, Pending: 2}},
		"bytes": {`"ItemBatcher":{"MaxInputBytesPerBatch":15},`, engine.Tally{Running: 4, Pending: 3},
			engine.Tally{Running: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called, released := make(chan struct{}), make(chan struct{})
			e, err := engine.New(engine.Config{Clock: virtual(t, epoch), Journal: journal.NewMemory(),
				Integrations: map[string]engine.Integration{"test:call": invoke(func(ctx context.Context,
					_ *engine.Task) (string, error) {
					select {
					case called <- struct{}{}:
					case <-released:
					}
					select {
					case <-released:
					case <-ctx.Done():
					}
					return `{}`, nil
				})}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Close)
			arn := begin(t, e, `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"MaxConcurrency":2,`+test.batcher+
				`"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"C","States":{"C":`+
				`{"Type":"Task","Resource":"arn:aws:states:::test:call","End":true}}}}}}`, `[1,2,3,4,5,6,7]`)
			<-called
			<-called
			describe := func() *engine.MapRun {
				t.Helper()
				runs, err := e.MapRunsOf(t.Context(), arn)
				if err != nil || len(runs) != 1 {
					t.Fatalf("%+v, %v", runs, err)
				}
				return runs[0]
			}
			if m := describe(); m.Items != test.items || m.Executions != test.executions || m.Items.Total() != 7 {
				t.Errorf("%+v and %+v", m.Items, m.Executions)
			}
			close(released)
			if _, err := e.Wait(t.Context(), arn); err != nil {
				t.Fatal(err)
			}
			if m := describe(); m.Items != (engine.Tally{Succeeded: 7}) || m.Executions.Pending != 0 {
				t.Errorf("at the end %+v and %+v", m.Items, m.Executions)
			}
		})
	}
}
