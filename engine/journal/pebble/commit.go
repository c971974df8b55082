package pebble

import (
	"encoding/binary"
	"fmt"
	"slices"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

const (
	// manySteps is the number of steps that are removed one by one when an execution ends; more are removed as a
	// range.
	manySteps = 64
	// expressBacklog is the number of bytes that may wait for the disk before EXPRESS executions wait too.
	expressBacklog = 8 << 20
	// shortHistory is the size in bytes, before compression, up to which a history is stored with the description.
	// Lists read descriptions, and so these histories.
	shortHistory = 4 << 10
)

// Commit implements journal.Journal.
func (j *Journal) Commit(r *journal.Record, done func(error)) {
	x := r.Execution
	if x.Express && !r.End {
		done(nil)
		return
	}
	if r.Begin && x.MapRunARN == "" && !j.space.Admits() {
		done(fmt.Errorf("%w on %s", journal.ErrDiskFull, j.dir))
		return
	}
	e := j.encoders.Get().(*encoder)
	defer j.encoders.Put(e)
	e.reset()
	done = j.trackOpen(r, done)
	if err := j.encode(e, r); err != nil {
		done(err)
		return
	}
	if x.Express && j.committer.backlog() < expressBacklog {
		j.committer.add(e.fill, nil)
		done(nil)
	} else {
		j.committer.add(e.fill, done)
	}
	if r.Definition != nil {
		j.markDefined(r.Definition)
	}
}

// encode prepares the changes that a record makes to the store.
func (j *Journal) encode(e *encoder, r *journal.Record) error {
	x := r.Execution
	if r.Definition != nil {
		j.define(e, r.Definition)
	}
	apart := textsApart(r)
	if r.Begin && len(apart) > 0 {
		e.raw = journal.AppendTexts(e.raw[:0], apart)
		e.pack(e.key(textsPrefix, x.ARN))
	}
	if r.Past != nil {
		e.unindex(x, r.Past.Status)
		if !r.End {
			e.reopen(x, r.Past, apart)
		}
	}
	if !r.End {
		if r.Begin || r.Past != nil {
			e.raw = x.AppendBinary(e.raw[:0], apart)
			e.pack(e.key(executionPrefix, x.ARN))
		}
		e.raw = journal.AppendStep(e.raw[:0], r.Signals, r.History, apart)
		e.pack(e.step(x.ARN, r.Step))
		return nil
	}
	e.ended(x, r.All, apart)
	e.addEnd(x)
	if x.Express && x.RedriveCount > 0 {
		if err := j.forgetEarlier(e, x); err != nil {
			return err
		}
	}
	e.index(x)
	if !x.Express && x.Status != history.Succeeded && len(r.Signals) > 0 {
		if err := j.keepSignals(e, r); err != nil {
			return err
		}
	}
	if r.Past != nil { // an EXPRESS execution: no steps were stored
		e.removeEnd(x, r.Past)
		return nil
	}
	dropSteps(e, x.ARN, r.Step)
	return nil
}

// ended stores the description and the history of an execution that has ended: a short history with the description,
// because each key costs as much time as several hundred bytes of its value, and any other one under a key of its own.
func (e *encoder) ended(x *journal.Execution, all []history.Event, apart []string) {
	e.raw = x.AppendBinary(append(e.raw[:0], withHistory), apart)
	to := len(e.raw)
	e.raw = history.AppendBinary(e.raw, all, apart)
	if len(e.raw)-to > shortHistory {
		e.packText(e.key(executionPrefix, x.ARN), e.raw[1:to])
		e.packText(e.key(historyPrefix, x.ARN), e.raw[to:])
		return
	}
	e.raw = binary.BigEndian.AppendUint32(e.raw, uint32(to-1))
	e.pack(e.key(executionPrefix, x.ARN))
	if x.RedriveCount > 0 { // the history of its earlier run may have been long
		e.op(remove, e.key(historyPrefix, x.ARN))
	}
}

// reopen turns an ended execution into a running one: everything it did becomes its first step.
func (e *encoder) reopen(x *journal.Execution, past *journal.Past, apart []string) {
	e.raw = journal.AppendStep(e.raw[:0], past.Signals, past.History, apart)
	e.pack(e.step(x.ARN, 0))
	e.op(remove, e.key(historyPrefix, x.ARN))
	e.op(remove, e.key(eventsPrefix, x.ARN))
	e.removeEnd(x, past)
}

// removeEnd removes the earlier end of an execution from the list used for retention.
func (e *encoder) removeEnd(x *journal.Execution, past *journal.Past) {
	if x.MapRunARN == "" && !past.Stopped.Equal(x.Stop) {
		from := len(e.keys)
		e.keys = endKey(e.keys, past.Stopped.UnixNano(), x.ARN)
		e.op(remove, span{from, len(e.keys)})
	}
}

// addEnd adds the end of an execution to the list used for retention. Child executions are kept as long as their
// parents.
func (e *encoder) addEnd(x *journal.Execution) {
	if x.MapRunARN != "" {
		return
	}
	from := len(e.keys)
	e.keys = endKey(e.keys, x.Stop.UnixNano(), x.ARN)
	e.ops = append(e.ops, operation{key: span{from, len(e.keys)}})
}

// define stores a definition unless an earlier record has stored it.
func (j *Journal) define(e *encoder, d *journal.Definition) {
	j.mu.Lock()
	kept := j.definitions[d.ID]
	j.mu.Unlock()
	if kept {
		return
	}
	e.raw = d.AppendBinary(e.raw[:0])
	e.pack(e.key(definitionPrefix, d.ID))
}

// markDefined notes that the record with definition d was committed, so that later records need not contain it. Two
// records prepared at the same time both contain it, since a crash may preserve only one of them.
func (j *Journal) markDefined(d *journal.Definition) {
	j.mu.Lock()
	j.definitions[d.ID] = true
	j.mu.Unlock()
}

// keepSignals stores all signals of an execution that ended without success, so that it can be redriven.
func (j *Journal) keepSignals(e *encoder, r *journal.Record) error {
	events := r.Signals
	switch {
	case r.Past != nil:
		events = append(slices.Clip(r.Past.Signals), r.Signals...)
	case r.Step > 0:
		steps, err := j.steps(r.Execution.ARN)
		if err != nil {
			return err
		}
		events = nil
		for _, s := range steps {
			events = append(events, s.Signals...)
		}
		events = append(events, r.Signals...)
	}
	e.raw = interpreter.AppendSignals(e.raw[:0], events)
	e.pack(e.key(eventsPrefix, r.Execution.ARN))
	return nil
}

// dropSteps removes the steps of an ended execution.
func dropSteps(e *encoder, arn string, steps int64) {
	if steps <= manySteps {
		for i := range steps {
			e.op(annihilate, e.step(arn, i))
		}
		return
	}
	from, to := e.step(arn, 0), e.step(arn, steps)
	e.ops = append(e.ops, operation{from, to, removeRange})
}
