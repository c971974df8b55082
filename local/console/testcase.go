package console

import (
	"bytes"
	"errors"
	"io"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/functiontest/recording"
	"stepback/stepbacktest/machinetest"
)

// testCase exports an execution as a test of its state machine, as `stepback record` does.
func (c *Console) testCase(r *request, x *journal.Execution, events []history.Event) (*answer, error) {
	if c.hidden.any() {
		return nil, errHidden
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
	return written(recording)
}

var errHidden = &badForm{"a test case contains complete payloads, and this console hides members of them (--redact)"}

// durableTestCase exports an execution as a test of its durable function, as `stepback record` does.
func (c *Console) durableTestCase(r *request, x *journal.Execution, events []history.Event) (*answer, error) {
	if c.hidden.any() {
		return nil, errHidden
	}
	var f struct{ Handler, Runtime string }
	err := c.cfg.Call(r.Context(), "lambda", "GetFunctionConfiguration", map[string]any{"FunctionName": x.VersionARN}, &f)
	var refused *aws.Error
	if errors.As(err, &refused) {
		return nil, &badForm{"the function of this execution cannot be read: " + refused.Message}
	}
	if err != nil {
		return nil, err
	}
	return written(&recording.Recording{Name: x.Name, Handler: f.Handler, Runtime: f.Runtime, Events: events})
}

// written returns a test as text.
func written(test interface{ Write(w io.Writer) error }) (*answer, error) {
	var b bytes.Buffer
	if err := test.Write(&b); err != nil {
		return nil, &badForm{err.Error()}
	}
	return &answer{Text: b.String()}, nil
}
