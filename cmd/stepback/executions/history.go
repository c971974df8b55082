package executions

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"stepback/engine/history"
	"stepback/jsonvalue"
)

// pageOfEvents is the number of events requested at a time.
const pageOfEvents = 1000

// event is an event in a response.
type event struct{ history.Event }

// UnmarshalJSON implements json.Unmarshaler.
func (e *event) UnmarshalJSON(b []byte) error {
	v, err := jsonvalue.Parse(string(b))
	if err == nil {
		e.Event, err = history.ParseEvent(v)
	}
	return err
}

var _ json.Unmarshaler = (*event)(nil)

// History returns the history of an execution so far.
func (c *Client) History(ctx context.Context, arn string) ([]history.Event, error) {
	var events []history.Event
	in := map[string]any{"executionArn": arn, "maxResults": pageOfEvents, "includeExecutionData": true}
	err := pages(ctx, c.States, "GetExecutionHistory", in, "events", func(e event) (bool, error) {
		events = append(events, e.Event)
		return true, nil
	})
	return events, err
}

// after returns the events after the one with ID last, reading from the end of the history.
func (c *Client) after(ctx context.Context, arn string, last int64) ([]history.Event, error) {
	var events []history.Event
	in := map[string]any{
		"executionArn": arn, "maxResults": pageOfEvents, "includeExecutionData": true, "reverseOrder": true,
	}
	err := pages(ctx, c.States, "GetExecutionHistory", in, "events", func(e event) (bool, error) {
		if e.ID <= last {
			return false, nil
		}
		events = append(events, e.Event)
		return true, nil
	})
	slices.Reverse(events)
	return events, err
}

// Follow yields the events of an execution as they arrive, until the execution or the context ends.
func (c *Client) Follow(ctx context.Context, arn string, take func([]history.Event) error) error {
	events, err := c.History(ctx, arn)
	for {
		if err != nil {
			return err
		}
		var last int64
		if len(events) > 0 {
			if err := take(events); err != nil {
				return err
			}
			if events[len(events)-1].Type.Terminal() {
				return nil
			}
			last = events[len(events)-1].ID
		}
		for events = nil; len(events) == 0; {
			if err := c.pause(ctx); err != nil {
				return err
			}
			if events, err = c.after(ctx, arn, last); err != nil {
				return err
			}
		}
	}
}

// pause waits for the polling interval.
func (c *Client) pause(ctx context.Context) error {
	every := c.Every
	if every <= 0 {
		every = 500 * time.Millisecond
	}
	timer := time.NewTimer(every)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Await waits for the end of an execution and returns its description.
func (c *Client) Await(ctx context.Context, arn string) (*Execution, error) {
	for {
		x, err := c.Describe(ctx, arn)
		if err != nil || x.Ended() {
			return x, err
		}
		if err := c.pause(ctx); err != nil {
			return x, err
		}
	}
}

// WithChildren returns the history of an execution, and the histories of its Map Runs' child executions in the
// order in which they started. The API has no histories of EXPRESS child executions.
func (c *Client) WithChildren(ctx context.Context, arn string) (events []history.Event, children [][]history.Event,
	err error) {
	if events, err = c.History(ctx, arn); err != nil {
		return nil, nil, err
	}
	for i := range events {
		e := &events[i]
		if e.Type != history.MapRunStarted || e.More == nil {
			continue
		}
		var arns []string
		err := c.List(ctx, Filter{MapRun: e.More.MapRunARN}, func(x *Execution) error {
			arns = append(arns, x.ARN)
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		slices.Reverse(arns) // they arrive newest first
		for _, child := range arns {
			of, err := c.History(ctx, child)
			if err != nil {
				return nil, nil, err
			}
			children = append(children, of)
		}
	}
	return events, children, nil
}
