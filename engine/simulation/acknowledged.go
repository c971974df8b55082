package simulation

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// acknowledged records the steps that the journal reported as durable, in order.
type acknowledged struct {
	mu  sync.Mutex
	all []ack
}

// ack is a durable step.
type ack struct {
	arn      string
	step     int64
	ended    bool
	status   history.Status
	redrives int64
}

func (a *acknowledged) add(r *journal.Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, ack{arn: r.Execution.ARN, step: r.Step, ended: r.End, status: r.Execution.Status,
		redrives: r.Execution.RedriveCount})
}

func (a *acknowledged) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.all)
}

// lost returns an error if one of the first acknowledged steps is no longer in the journal.
func (a *acknowledged) lost(ctx context.Context, j journal.Journal, first int) error {
	a.mu.Lock()
	all := slices.Clone(a.all[:min(first, len(a.all))])
	a.mu.Unlock()
	steps := map[string]int{}
	for x, err := range j.Unfinished(ctx, "") {
		if err != nil {
			return err
		}
		steps[x.ARN] = len(x.Steps)
	}
	latest := map[string]ack{}
	for _, k := range all {
		latest[k.arn] = k
	}
	for _, k := range latest {
		x, err := j.Execution(ctx, k.arn)
		if err != nil {
			return fmt.Errorf("%s, of which step %d was acknowledged: %w", k.arn, k.step, err)
		}
		switch there := steps[k.arn]; {
		case x.RedriveCount > k.redrives:
		case x.RedriveCount < k.redrives:
			return fmt.Errorf("%s was acknowledged to be redriven %d times and is %d times", k.arn, k.redrives, x.RedriveCount)
		case k.ended && x.Status != k.status:
			return fmt.Errorf("%s was acknowledged to be %s and is %s", k.arn, k.status, x.Status)
		case !k.ended && !x.Ended() && int64(there) <= k.step:
			return fmt.Errorf("%s has %d steps, of which %d were acknowledged", k.arn, there, k.step+1)
		}
	}
	return nil
}

// forget drops all but the first entries, because steps that were lost need not exist later.
func (a *acknowledged) forget(first int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = a.all[:min(first, len(a.all))]
}
