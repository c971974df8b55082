package simulation

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
)

// replay applies the same signals to a new execution and requires the same history and effects for every step. The
// signals pass through their stored form.
func replay(p *plan.Plan, info *history.Info, events []interpreter.Signal,
	done []interpreter.Result) (*interpreter.Execution, error) {
	x := interpreter.New(interpreter.Machine{Plan: p, Name: "m"}, info)
	for i := range events {
		e, err := stored(&events[i])
		if err != nil {
			return nil, fmt.Errorf("event %d does not read back: %w", i+1, err)
		}
		var r interpreter.Result
		x.Step(e, &r)
		if !reflect.DeepEqual(r.History, done[i].History) {
			return nil, fmt.Errorf("replayed, step %d gives another history: %+v, not %+v", i+1, r.History,
				done[i].History)
		}
		if !slices.EqualFunc(r.Effects, done[i].Effects, sameEffect) {
			return nil, fmt.Errorf("replayed, step %d has other effects: %s, not %s", i+1, describe(r.Effects),
				describe(done[i].Effects))
		}
	}
	return x, nil
}

// stored returns a signal as it is read back from a store.
func stored(e *interpreter.Signal) (*interpreter.Signal, error) {
	events, rest, err := interpreter.DecodeSignals(interpreter.AppendSignals(nil, []interpreter.Signal{*e}))
	if err != nil {
		return nil, err
	}
	if len(events) != 1 || len(rest) != 0 {
		return nil, fmt.Errorf("%d events and %d bytes come back of one event", len(events), len(rest))
	}
	return &events[0], nil
}

func sameEffect(a, b interpreter.Effect) bool {
	if a.Kind != b.Kind || a.ID != b.ID || a.Background != b.Background || !a.At.Equal(b.At) ||
		(a.Task == nil) != (b.Task == nil) || (a.MapRun == nil) != (b.MapRun == nil) {
		return false
	}
	if a.Task != nil {
		return reflect.DeepEqual(a.Task.Parameters, b.Task.Parameters) && a.Task.Task == b.Task.Task &&
			a.Task.State == b.Task.State &&
			a.Task.Attempt == b.Task.Attempt && a.Task.Token == b.Task.Token && a.Task.RoleARN == b.Task.RoleARN &&
			a.Task.Timeout == b.Task.Timeout && a.Task.Heartbeat == b.Task.Heartbeat
	}
	return a.MapRun == nil || sameMapRun(a.MapRun, b.MapRun)
}

func sameMapRun(a, b *interpreter.MapRunCall) bool {
	if a.ARN != b.ARN || a.Label != b.Label || a.State != b.State || len(a.Items) != len(b.Items) ||
		a.MaxConcurrency != b.MaxConcurrency || a.ToleratedFailureCount != b.ToleratedFailureCount ||
		a.MaxItemsPerBatch != b.MaxItemsPerBatch {
		return false
	}
	for i := range a.Items {
		x, errA := a.Select(context.Background(), int64(i), a.Items[i], "", "")
		y, errB := b.Select(context.Background(), int64(i), b.Items[i], "", "")
		if x.JSON() != y.JSON() || (errA == nil) != (errB == nil) {
			return false
		}
	}
	return true
}

var effectNames = map[interpreter.EffectKind]string{
	interpreter.InvokeTask: "InvokeTask", interpreter.CancelTask: "CancelTask", interpreter.SetTimer: "SetTimer",
	interpreter.CancelTimer: "CancelTimer", interpreter.StartMapRun: "StartMapRun",
	interpreter.CancelMapRun: "CancelMapRun",
	interpreter.Yield:        "Yield", interpreter.Finish: "Finish",
}

func describe(effects []interpreter.Effect) string {
	out := make([]string, 0, len(effects))
	for i := range effects {
		out = append(out, fmt.Sprintf("%s %d", effectNames[effects[i].Kind], effects[i].ID))
	}
	return fmt.Sprint(out)
}
