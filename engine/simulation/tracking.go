package simulation

import (
	"bytes"
	"fmt"
	"sync"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// tracking checks Config.Track: for each execution, the events before and the events passed on by the process are its
// history, each once.
type tracking struct {
	mu    sync.Mutex
	of    map[string][]history.Event
	wrong error // the first fault
}

// track implements engine.Config.Track.
func (k *tracking) track(x *journal.Execution, past []history.Event, recovered bool) func([]history.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	arn := x.ARN
	if k.of == nil {
		k.of = map[string][]history.Event{}
	}
	before, known := k.of[arn]
	restarted := x.Express && len(past) == 0 // a child execution that its Map Run starts anew
	if known && (recovered || !restarted && len(before) != len(past)) {
		k.fail(fmt.Errorf("%s is tracked again with %d events after %d (recovered: %t)", arn, len(past), len(before),
			recovered))
	}
	k.of[arn] = append([]history.Event(nil), past...)
	return func(events []history.Event) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.of[arn] = append(k.of[arn], events...)
	}
}

func (k *tracking) fail(err error) {
	if k.wrong == nil {
		k.wrong = err
	}
}

// judge compares what was tracked with the history of an ended execution. Executions that ended in an earlier process
// have not been tracked.
func (k *tracking) judge(x *execution) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.wrong != nil {
		return k.wrong
	}
	got, ok := k.of[x.ARN]
	if ok && !bytes.Equal(history.AppendBinary(nil, got, nil), history.AppendBinary(nil, x.history, nil)) {
		return fmt.Errorf("%d events were tracked, and the history has %d", len(got), len(x.history))
	}
	return nil
}
