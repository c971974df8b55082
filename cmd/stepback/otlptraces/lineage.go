package otlptraces

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"stepback/engine/journal"
)

// Kept reads executions and Map Runs; journal.Journal implements it.
type Kept interface {
	Execution(ctx context.Context, arn string) (*journal.Execution, error)
	MapRun(ctx context.Context, arn string) (*journal.MapRun, error)
}

// lineage finds the traces to which executions belong, and caches them.
type lineage struct {
	mu    sync.Mutex
	kept  Kept
	found map[string]trace.TraceID // ARN of a Map Run or execution → the trace of what it started
}

const (
	// remembered is the maximum number of cached traces. mostDeep is the maximum depth to which nested executions
	// are followed.
	remembered = 4096
	mostDeep   = 16
)

// startedBy is the member of an input that tells Step Functions which execution started an execution.
const startedBy = "AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID"

// starter returns the ARN of the Map Run or execution that started an execution; empty if there is none.
func starter(x *journal.Execution) string {
	if x.MapRunARN != "" {
		return x.MapRunARN
	}
	if !strings.Contains(x.Input, startedBy) {
		return ""
	}
	var input struct {
		By string `json:"AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID"`
	}
	if err := json.Unmarshal([]byte(x.Input), &input); err != nil || !strings.Contains(input.By, ":execution:") {
		return ""
	}
	return input.By
}

// place returns the place of an execution: below its starter in the starter's trace, if that is known, and
// otherwise the zero Place.
func (l *lineage) place(x *journal.Execution) Place {
	by := starter(x)
	if by == "" {
		return Place{}
	}
	in := l.trace(by, mostDeep)
	if !in.IsValid() {
		return Place{}
	}
	return below(in, by)
}

// trace returns the trace that contains the executions started by a Map Run or execution. It is invalid if the
// trace is unknown.
func (l *lineage) trace(by string, deep int) trace.TraceID {
	l.mu.Lock()
	in, kept := l.found[by], l.kept
	l.mu.Unlock()
	if in.IsValid() || kept == nil || deep == 0 {
		return in
	}
	if in = l.lookUp(kept, by, deep); !in.IsValid() {
		return in
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == nil || len(l.found) >= remembered {
		l.found = map[string]trace.TraceID{}
	}
	l.found[by] = in
	return in
}

func (l *lineage) lookUp(kept Kept, by string, deep int) trace.TraceID {
	ctx := context.Background() // each lookup reads one value of a local store
	parent := by
	if strings.Contains(by, ":mapRun:") {
		m, err := kept.MapRun(ctx, by)
		if err != nil {
			return trace.TraceID{}
		}
		parent = m.Execution
	}
	if x, err := kept.Execution(ctx, parent); err == nil {
		if above := starter(x); above != "" {
			if in := l.trace(above, deep-1); in.IsValid() {
				return in
			}
		}
	}
	return TraceID(parent)
}
