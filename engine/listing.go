package engine

import (
	"context"
	"iter"
	"slices"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// Executions yields the STANDARD executions of a machine, running and ended, in the order of their ARNs. The ARN may be
// the labelled one of a Map Run's child executions.
func (e *Engine) Executions(ctx context.Context, machineARN string) iter.Seq2[*journal.Execution, error] {
	return e.cfg.Journal.Executions(ctx, history.ExecutionARN(machineARN, ""))
}

// Running returns the ARNs of a machine's executions that are under way, without those of its Map Runs.
func (e *Engine) Running(machineARN string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var arns []string
	for arn, r := range e.runs {
		if r.record.MachineARN == machineARN {
			arns = append(arns, arn)
		}
	}
	slices.Sort(arns)
	return arns
}
