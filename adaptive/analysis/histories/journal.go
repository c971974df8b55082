package histories

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/adaptive/analysis"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// Selection selects the executions to read.
type Selection struct {
	// Machine is the name or the ARN of the state machine, and Function that of the durable function. If both are
	// empty, the executions of all state machines and durable functions are read. [API] reads none of durable
	// functions.
	Machine, Function string
	// Since is the earliest start; zero for all.
	Since time.Time
	// Most is the maximum number of histories that [API] reads, the newest executions first; 0 for all.
	Most int
}

// takes reports whether an execution of a state machine is selected. The state machine of a child execution has an
// ARN with a label.
func (s Selection) takes(machineARN string, start time.Time) bool {
	if start.Before(s.Since) {
		return false
	}
	if s.Machine == "" && s.Function == "" {
		return true
	}
	arn, _, _ := strings.Cut(machineARN, "/")
	named := func(resource, name string) bool {
		return name != "" && (arn == name || strings.HasSuffix(arn, ":"+resource+":"+name))
	}
	return named("stateMachine", s.Machine) || named("function", s.Function)
}

// Journal reads the executions of a journal, including child executions and those of durable functions. If a definition
// is missing or cannot be parsed, its executions have no rules.
func Journal(ctx context.Context, j journal.Journal, s Selection, c *analysis.Collector) error {
	r := journalReader{journal: j, collector: c, parents: map[string]string{}}
	for x, err := range j.Executions(ctx, "arn:") {
		if err != nil {
			return err
		}
		if !s.takes(x.MachineARN, x.Start) {
			continue
		}
		if err := r.execution(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

type journalReader struct {
	journal   journal.Journal
	collector *analysis.Collector
	parents   map[string]string // IDs of the definitions of Map Runs
}

func (r *journalReader) execution(ctx context.Context, x *journal.Execution) error {
	events, err := r.events(ctx, x)
	if errors.Is(err, journal.ErrNotFound) {
		return nil // it has been removed in the meantime
	}
	if err != nil {
		return fmt.Errorf("%s: %w", x.ARN, err)
	}
	rules, err := r.rules(ctx, x)
	if err != nil {
		return err
	}
	r.collector.AddHistory(analysis.Execution{
		ARN: x.ARN, Rules: rules, MapRun: x.MapRunARN, Ended: x.Ended(),
	}, events)
	return nil
}

// events returns the events of an execution: the whole history if it has ended, otherwise the history so far.
func (r *journalReader) events(ctx context.Context, x *journal.Execution) ([]history.Event, error) {
	if x.Ended() {
		return r.journal.History(ctx, x.ARN)
	}
	var events []history.Event
	for u, err := range r.journal.Unfinished(ctx, x.ARN) {
		if err != nil {
			return nil, err
		}
		if u.ARN != x.ARN {
			continue
		}
		for _, s := range u.Steps {
			events = append(events, s.History...)
		}
	}
	return events, nil
}

// rules returns the ID of an execution's definition, after registering its Retry arrays with the collector; empty if
// they are unknown.
func (r *journalReader) rules(ctx context.Context, x *journal.Execution) (string, error) {
	id, err := r.definition(ctx, x)
	if err != nil || id == "" || r.collector.KnowsRules(id) {
		return id, err
	}
	d, err := r.journal.Definition(ctx, id)
	if errors.Is(err, journal.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	states, err := analysis.RulesOf(d.Text)
	if err != nil {
		return "", nil //nolint:nilerr // executions of a definition that is no longer valid are read without it
	}
	r.collector.Rules(id, states)
	return id, nil
}

// definition returns the ID of the execution's definition. A child execution has its parent's.
func (r *journalReader) definition(ctx context.Context, x *journal.Execution) (string, error) {
	if x.Definition != "" || x.MapRunARN == "" {
		return x.Definition, nil
	}
	if id, known := r.parents[x.MapRunARN]; known {
		return id, nil
	}
	id := ""
	run, err := r.journal.MapRun(ctx, x.MapRunARN)
	if err == nil {
		var parent *journal.Execution
		if parent, err = r.journal.Execution(ctx, run.Execution); err == nil {
			id, err = r.definition(ctx, parent)
		}
	}
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		return "", err
	}
	r.parents[x.MapRunARN] = id
	return id, nil
}
