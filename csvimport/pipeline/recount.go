package pipeline

import (
	"context"
	"strings"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/retrymetrics"
)

// Children calls visit with each child execution of an execution's Map Runs, in the order of their ARNs.
func Children(ctx context.Context, j journal.Journal, parent *journal.Execution,
	visit func(*journal.Execution) error) error {
	events, err := j.History(ctx, parent.ARN)
	if err != nil {
		return err
	}
	runs := map[string]bool{}
	for i := range events {
		if events[i].Type == history.MapRunStarted {
			runs[events[i].More.MapRunARN] = true
		}
	}
	if len(runs) == 0 {
		return nil
	}
	prefix := strings.Replace(parent.MachineARN, ":stateMachine:", ":execution:", 1) + "/"
	for x, err := range j.Executions(ctx, prefix) {
		if err != nil {
			return err
		}
		if !runs[x.MapRunARN] {
			continue
		}
		if err := visit(x); err != nil {
			return err
		}
	}
	return nil
}

// recount counts the retries of an execution from the histories in the journal.
func (p *Pipeline) recount(ctx context.Context, x *journal.Execution) (*retrymetrics.Counter, error) {
	var c retrymetrics.Counter
	add := func(x *journal.Execution) error {
		events, err := p.journal.History(ctx, x.ARN)
		if err == nil {
			c.Add(events)
		}
		return err
	}
	if err := add(x); err != nil {
		return nil, err
	}
	return &c, Children(ctx, p.journal, x, add)
}
