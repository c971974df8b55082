package aggregate

import (
	"context"
	"encoding/json"
	"fmt"

	"stepback/csvimport"
	"stepback/retry"
)

// child is a child execution that did not succeed.
type child struct {
	Name, Input, Status, ExecutionArn string
	Error, Cause                      string
	StartDate, StopDate               json.RawMessage
}

// childInput is the input of a child, a single item or a batch.
type childInput struct {
	item
	Items []item
}

type item struct {
	Row    *int64          `json:"row"`
	Record json.RawMessage `json:"record"`
}

// readFailed reads one child execution that failed, timed out or was aborted. The outcome of its rows is unknown.
func (r *run) readFailed(ctx context.Context, decoder *json.Decoder) error {
	return r.readChild(ctx, decoder, func(c child) letter {
		l := letter{Reason: reasonChildFailed, Error: c.Error, Cause: c.Cause, FirstTime: timeText(c.StartDate),
			LastTime: timeText(c.StopDate)}
		if l.Error == "" {
			l.Error = errorOf(c.Status)
		}
		if l.Cause == "" {
			l.Cause = fmt.Sprintf("child execution %s ended with status %s", c.Name, c.Status)
		}
		return l
	})
}

// errorOf returns the error name for a failure without one.
func errorOf(status string) string {
	if status == "TIMED_OUT" {
		return retry.StatesTimeout
	}
	return "ChildExecutionFailed"
}

// readPending reads one child that was never started.
func (r *run) readPending(ctx context.Context, decoder *json.Decoder) error {
	return r.readChild(ctx, decoder, func(child) letter {
		return letter{Reason: reasonNotStarted, Error: reasonNotStarted, Cause: "not started: the Map Run stopped"}
	})
}

// readChild creates a letter for each row in a child's input. The ResultWriter omits inputs that are too long. The
// rows of such a child are named in no result; they are found later by reading the data again.
func (r *run) readChild(ctx context.Context, decoder *json.Decoder, describe func(child) letter) error {
	var c child
	if err := decoder.Decode(&c); err != nil {
		return err
	}
	if c.Input == "" {
		return nil
	}
	var in childInput
	if err := json.Unmarshal([]byte(c.Input), &in); err != nil {
		return fmt.Errorf("the input of child execution %s: %w", c.Name, err)
	}
	items := in.Items
	if in.Row != nil {
		items = append(items, in.item)
	}
	for _, it := range items {
		if it.Row == nil {
			return fmt.Errorf("the input of child execution %s: an item lacks its row", c.Name)
		}
		l := describe(c)
		l.Row, l.Payload, l.Child, l.outcome = *it.Row, it.Record, c.ExecutionArn, csvimport.DeadLettered
		if err := r.notApplied(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// timeText returns a time from a result file verbatim: text, or a number of seconds or milliseconds.
func timeText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
