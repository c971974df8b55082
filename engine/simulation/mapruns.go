package simulation

import (
	"fmt"
	"slices"
	"time"

	"stepback/engine"
	"stepback/engine/history"
)

// judgeMapRun compares a Map Run's counters with the child executions that actually ran, and checks how many ran at
// once.
func (s *shell) judgeMapRun(r *engine.MapRun, ended []*execution) error {
	if r.Stopped.IsZero() {
		return nil // its execution ended before it did
	}
	var items, executions engine.Tally
	var children []*execution
	for _, x := range ended {
		if x.MapRunARN == r.ARN {
			children = append(children, x)
			tally(&items, x.Status, x.Items)
			tally(&executions, x.Status, 1)
		}
	}
	items.Pending, executions.Pending = r.Items.Pending, r.Executions.Pending // never started, so never seen
	items.NotRedrivable, executions.NotRedrivable = r.Items.NotRedrivable, r.Executions.NotRedrivable
	switch {
	case r.Items != items:
		return fmt.Errorf("its items are %+v, but its children's were %+v", r.Items, items)
	case r.Executions != executions:
		return fmt.Errorf("its executions are %+v, but there were %+v", r.Executions, executions)
	case r.Status == history.Succeeded && items.Pending > 0 || r.Status == history.Succeeded &&
		items.Aborted > items.NotRedrivable:
		return fmt.Errorf("it succeeded with %+v", items)
	case r.Status == history.Succeeded && items.Failed+items.TimedOut > r.ToleratedFailureCount:
		return fmt.Errorf("it succeeded with more failures than the %d tolerated: %+v", r.ToleratedFailureCount, items)
	}
	if n := atOnce(children); !s.back && r.RedriveCount == 0 && r.MaxConcurrency > 0 && n > r.MaxConcurrency {
		return fmt.Errorf("%d children ran at once, with a MaxConcurrency of %d", n, r.MaxConcurrency)
	}
	return nil
}

func tally(t *engine.Tally, status history.Status, n int64) {
	switch status {
	case history.Succeeded:
		t.Succeeded += n
	case history.Failed:
		t.Failed += n
	case history.TimedOut:
		t.TimedOut += n
	default:
		t.Aborted += n
	}
}

// atOnce returns the largest number of executions running at the same time. It cannot count executions that start and
// end at the same instant, nor redriven ones between their ends.
func atOnce(executions []*execution) int64 {
	changes := map[time.Time]int64{}
	for _, x := range executions {
		changes[x.Start]++
		changes[x.Stop]--
	}
	moments := make([]time.Time, 0, len(changes))
	for t := range changes {
		moments = append(moments, t)
	}
	slices.SortFunc(moments, time.Time.Compare)
	var running, most int64
	for _, t := range moments {
		running += changes[t]
		most = max(most, running)
	}
	return most
}
