package console

import (
	"bytes"
	"errors"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/stepbacktest/machinetest"
)

// testCase exports an execution as a test of its state machine, as `stepback record` does.
func (c *Console) testCase(r *request, x *journal.Execution, events []history.Event) (*answer, error) {
	if c.hidden.any() {
		return nil, &badForm{"a test case contains complete payloads, and this console hides members of them (--redact)"}
	}
	recording := &machinetest.Recording{Name: x.Name, Definition: machineOf(x) + ".asl.json", Events: events}
	runs, err := r.engine.MapRunsOf(r.Context(), x.ARN)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		for l, err := range r.engine.Listed(r.Context(), &engine.Query{Of: run.ARN}) {
			if err != nil {
				return nil, err
			}
			child, err := r.engine.History(r.Context(), l.ARN)
			if errors.Is(err, engine.ErrNoExecution) {
				continue
			}
			if err != nil {
				return nil, err
			}
			recording.Children = append(recording.Children, child)
		}
	}
	var b bytes.Buffer
	if err := recording.Write(&b); err != nil {
		return nil, &badForm{err.Error()}
	}
	return &answer{Text: b.String()}, nil
}
