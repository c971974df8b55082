package oracle

import (
	"errors"
	"fmt"
	"strings"

	"stepback/engine/history"
	"stepback/engine/simulation/machine"
)

// expectation is an event that must come before any other. Several may come in any order.
type expectation struct {
	typ    history.Type
	thread *thread
	judge  func(e *history.Event) error // may be nil
}

func (j *judge) expect(t *thread, typ history.Type) { j.expectThat(t, typ, nil) }

func (j *judge) expectThat(t *thread, typ history.Type, judge func(e *history.Event) error) {
	j.expected = append(j.expected, expectation{typ, t, judge})
}

func (j *judge) expectIndex(t *thread, typ history.Type, index int) {
	j.expectThat(t, typ, func(e *history.Event) error {
		if e.More == nil || e.More.Index != int64(index) {
			return fmt.Errorf("its index should be %d", index)
		}
		return nil
	})
}

// expects removes the expectation that an event meets and returns its thread; nil if nothing is expected.
func (j *judge) expects(e *history.Event) (*thread, error) {
	if len(j.expected) == 0 {
		return nil, j.unexpected(e)
	}
	var refused error
	for i, x := range j.expected {
		if x.typ != e.Type {
			continue
		}
		if x.judge != nil {
			if err := x.judge(e); err != nil {
				refused = err
				continue
			}
		}
		if !x.thread.related(j.who[e.Previous]) {
			refused = errors.New("it follows from an event of another thread")
			continue
		}
		j.expected = append(j.expected[:i], j.expected[i+1:]...)
		return x.thread, nil
	}
	if refused != nil {
		return nil, refused
	}
	return nil, errors.New("expected before it: " + j.listExpected())
}

// related reports whether an event of this thread may follow from an event of the other one: one thread is inside the
// other, or both are parts of the same state.
func (t *thread) related(other *thread) bool {
	if other == nil {
		return t.fan == nil
	}
	inside := func(a, b *thread) bool { return a.up(func(x *thread) bool { return x == b }) != nil }
	if inside(t, other) || inside(other, t) {
		return true
	}
	return t.fan != nil && t.up(func(x *thread) bool { return inside(other, x) }) != nil
}

// nothingMissing reports an expected event that is missing before an event that ends the history or comes later in
// time.
func (j *judge) nothingMissing() error {
	if len(j.expected) == 0 {
		return nil
	}
	return errors.New("missing before it: " + j.listExpected())
}

func (j *judge) listExpected() string {
	names := make([]string, 0, len(j.expected))
	for _, x := range j.expected {
		names = append(names, x.typ.String())
	}
	return strings.Join(names, ", ")
}

// onlyExpected are the events that are valid only if expected.
var onlyExpected = map[history.Type]bool{
	history.ExecutionSucceeded: true, history.ExecutionFailed: true,
	history.ParallelStateSucceeded: true, history.ParallelStateFailed: true, history.ParallelStateAborted: true,
	history.MapStateSucceeded: true, history.MapStateFailed: true, history.MapStateAborted: true,
	history.MapIterationStarted: true, history.MapIterationSucceeded: true, history.MapIterationFailed: true,
	history.MapIterationAborted: true, history.TaskStateAborted: true, history.WaitStateAborted: true,
	history.MapRunStarted: true,
}

func (j *judge) unexpected(e *history.Event) error {
	if onlyExpected[e.Type] {
		return errors.New("nothing that came before leads to it")
	}
	return nil
}

// settle processes the failures of tasks that have timed out, one after another; the consequences of one come before
// the next.
func (j *judge) settle() error {
	for len(j.expected) == 0 && len(j.late) > 0 {
		o := j.late[0]
		j.late = j.late[1:]
		if o.thread.gone {
			continue
		}
		if err := j.fail(o.thread, o.failure); err != nil {
			return err
		}
	}
	return nil
}

var enteredTypes = map[string]history.Type{
	machine.Pass: history.PassStateEntered, machine.Task: history.TaskStateEntered,
	machine.Choice: history.ChoiceStateEntered,
	machine.Wait:   history.WaitStateEntered, machine.Parallel: history.ParallelStateEntered,
	machine.Map:     history.MapStateEntered,
	machine.Succeed: history.SucceedStateEntered, machine.Fail: history.FailStateEntered,
}

var exitedTypes = map[string]history.Type{
	machine.Pass: history.PassStateExited, machine.Task: history.TaskStateExited,
	machine.Choice: history.ChoiceStateExited,
	machine.Wait:   history.WaitStateExited, machine.Parallel: history.ParallelStateExited,
	machine.Map:     history.MapStateExited,
	machine.Succeed: history.SucceedStateExited,
}

func exited(s *machine.State) history.Type { return exitedTypes[s.Type] }
