package simulation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/simulation/machine"
	"stepback/engine/simulation/oracle"
)

// execution is an ended execution: the simulated one or a child.
type execution struct {
	*journal.Execution
	history []history.Event
}

// wrong is the error of one execution.
type wrong struct {
	*execution
	err error
}

func (w *wrong) Error() string { return w.ARN + ": " + w.err.Error() }
func (w *wrong) Unwrap() error { return w.err }

// failure wraps an error with everything that led to it. It returns nil if err is nil.
func (s *shell) failure(err error) error {
	if err == nil {
		return nil
	}
	f := &Failure{Err: err, Definition: s.model.Definition(), Input: s.input, Trace: s.world.trace}
	var at *wrong
	if errors.As(err, &at) {
		f.History = at.history
	}
	return f
}

// judgeAll judges everything that has ended: it checks each execution, and compares each Map Run with its children.
func (s *shell) judgeAll(ctx context.Context) error {
	ended, err := s.ended(ctx)
	if err != nil {
		return err
	}
	runs := map[*execution][]*engine.MapRun{}
	for _, x := range ended {
		if err := s.judge(x); err != nil {
			return &wrong{x, err}
		}
		if runs[x], err = s.engine.MapRunsOf(ctx, x.ARN); err != nil {
			return err
		}
	}
	// Read again, so that all children of every Map Run that has ended by now are included.
	if ended, err = s.ended(ctx); err != nil {
		return err
	}
	for x, of := range runs {
		for _, r := range of {
			if err := s.judgeMapRun(r, ended); err != nil {
				return &wrong{x, fmt.Errorf("the Map Run %s: %w", r.ARN, err)}
			}
		}
	}
	return nil
}

// ended returns the ended executions from the journal.
func (s *shell) ended(ctx context.Context) ([]*execution, error) {
	var out []*execution
	for x, err := range s.journal.Executions(ctx, "") {
		if err != nil {
			return nil, err
		}
		if !x.Ended() {
			continue
		}
		h, err := s.journal.History(ctx, x.ARN)
		if err != nil {
			return nil, err
		}
		out = append(out, &execution{x, h})
	}
	return out, nil
}

// judge lets the oracle judge one history against the scope that the execution ran.
func (s *shell) judge(x *execution) error {
	first, status, err := firstEnd(x.history, x.Status)
	if err != nil {
		return err
	}
	if err := s.tracked.judge(x); err != nil {
		return err
	}
	if s.loose {
		return nil
	}
	subject := &oracle.Subject{
		Root: s.model.Root, TimeoutSeconds: s.model.TimeoutSeconds, Input: x.Input, History: first,
		Status: string(status), Stopped: true,
	}
	if m := s.mapState(x); m != nil {
		subject.Root, subject.TimeoutSeconds = m.Processor, 0
	}
	return oracle.Check(subject)
}

// mapState returns the Map state that started a child execution; nil if x is not a child.
func (s *shell) mapState(x *execution) *machine.State {
	_, label, child := strings.Cut(x.MachineARN, "/")
	if !child {
		return nil
	}
	var found *machine.State
	s.model.Root.Walk(func(st *machine.State) {
		if st.Name == label[strings.LastIndexByte(label, '/')+1:] {
			found = st
		}
	})
	return found
}
