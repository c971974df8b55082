package pebble

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// Unfinished implements journal.Recovery.
func (j *Journal) Unfinished(ctx context.Context, prefix string) iter.Seq2[*journal.Unfinished, error] {
	return func(yield func(*journal.Unfinished, error) bool) {
		executions, err := j.inOrder(executionPrefix)
		if err != nil {
			yield(nil, err)
			return
		}
		defer executions.Close()
		var arn, raw []byte
		var decoder decoder
		var steps []journal.Step
		var apart history.Apart
		tell := func() bool {
			if len(arn) == 0 {
				return true
			}
			x, err := readNext(executions, string(arn), decoder.executionOf(j.view, string(arn)))
			return yield(&journal.Unfinished{Execution: x, Steps: steps}, err) && err == nil
		}
		for it, err := range j.scan(ctx, stepPrefix+prefix) {
			if err != nil {
				yield(nil, err)
				return
			}
			of, _, ok := bytes.Cut(it.Key()[len(stepPrefix):], []byte{0})
			if !ok {
				yield(nil, fmt.Errorf("the key %q is not the key of a step", it.Key()))
				return
			}
			if !bytes.Equal(of, arn) {
				if !tell() {
					return
				}
				arn, steps, apart = append(arn[:0], of...), nil, j.apart(string(of))
			}
			s, err := unpackInto(&raw, it, func(raw []byte) (journal.Step, error) {
				return journal.DecodeStep(raw, apart)
			})
			if err != nil {
				yield(nil, err)
				return
			}
			steps = append(steps, s)
		}
		tell()
	}
}

// steps reads the steps of a running execution.
func (j *Journal) steps(arn string) ([]journal.Step, error) {
	var steps []journal.Step
	apart := j.apart(arn)
	for it, err := range j.walk(stepPrefix + arn + "\x00") {
		if err != nil {
			return nil, err
		}
		s, err := unpack(it.Value(), arn, func(raw []byte) (journal.Step, error) {
			return journal.DecodeStep(raw, apart)
		})
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// Signals implements journal.Recovery.
func (j *Journal) Signals(_ context.Context, arn string) ([]history.Signal, error) {
	return read(j.view, eventsPrefix, arn, func(raw []byte) ([]history.Signal, error) {
		events, _, err := interpreter.DecodeSignals(raw)
		return events, err
	})
}

// Definition implements journal.Recovery.
func (j *Journal) Definition(_ context.Context, id string) (*journal.Definition, error) {
	return read(j.view, definitionPrefix, id, func(raw []byte) (*journal.Definition, error) {
		return journal.DecodeDefinition(id, raw)
	})
}
