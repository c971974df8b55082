package executions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/timeline"
)

// Durable is an execution of a durable Lambda function, as the API lists and describes it.
type Durable struct {
	ARN         string `json:"DurableExecutionArn"`
	Name        string `json:"DurableExecutionName"`
	FunctionARN string `json:"FunctionArn"`
	Status      string
	Start       Time           `json:"StartTimestamp"`
	Stop        Time           `json:"EndTimestamp,omitzero"`
	Version     string         `json:",omitempty"`
	Input       *string        `json:"InputPayload,omitempty"`
	Result      *string        `json:",omitempty"`
	Error       *durable.Error `json:",omitempty"`
	// Retrying describes the retry of a step that the execution waits for. Only lists of a stepback server have it.
	Retrying string `json:",omitempty"`
}

// Ended reports whether the execution has ended.
func (d *Durable) Ended() bool { return d.Status != durable.Running }

// DurableFilter selects executions of durable functions. Function is a name or an ARN; empty means all durable
// functions. Status and Since restrict the list if they are not zero. Limit is the maximum number for each function; 0
// means all. Retrying selects executions in which a step waits for its next attempt, and Error those that ended with an
// error type or retry because of it; only a stepback server has an index for these.
type DurableFilter struct {
	Function, Status, Error string
	Retrying                bool
	Since                   time.Time
	Limit                   int
}

var errNoLambda = errors.New(
	"durable executions are read from the Lambda API: start stepback serve, or name an endpoint",
)

// lambda calls an operation of Lambda.
func (c *Client) lambda(ctx context.Context, operation string, in, out any) error {
	if c.Lambda == nil {
		return errNoLambda
	}
	return Said(c.Lambda.Call(ctx, operation, in, out))
}

// DurableFunctions returns the names of the durable functions.
func (c *Client) DurableFunctions(ctx context.Context) ([]string, error) {
	var names []string
	in := map[string]any{}
	for {
		var page struct {
			Functions []struct {
				FunctionName  string
				DurableConfig *struct{}
			}
			NextMarker string
		}
		if err := c.lambda(ctx, "ListFunctions", in, &page); err != nil {
			return nil, err
		}
		for _, f := range page.Functions {
			if f.DurableConfig != nil {
				names = append(names, f.FunctionName)
			}
		}
		if page.NextMarker == "" {
			return names, nil
		}
		in["Marker"] = page.NextMarker
	}
}

// ListDurable calls take with the executions that a filter selects, newest first for each function.
func (c *Client) ListDurable(ctx context.Context, f *DurableFilter, take func(*Durable) error) error {
	if f.Retrying || f.Error != "" {
		if c.Index == nil {
			return errors.New("only a stepback server lists durable executions by their retries and errors: leave out --retrying and --error")
		}
		return c.Index.durable(ctx, f, take)
	}
	names := []string{f.Function}
	if f.Function == "" {
		var err error
		if names, err = c.DurableFunctions(ctx); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := c.listDurableOf(ctx, name, f, take); err != nil {
			return err
		}
	}
	return nil
}

// durable calls take with the executions that a filter selects, newest first.
func (x *Index) durable(ctx context.Context, f *DurableFilter, take func(*Durable) error) error {
	q := url.Values{"format": {"json"}, "size": {strconv.Itoa(pageOfIndex)}}
	for name, value := range map[string]string{"function": f.Function, "status": f.Status, "error": f.Error} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Retrying {
		q.Set("retrying", "true")
	}
	if !f.Since.IsZero() {
		q.Set("since", time.Since(f.Since).String())
	}
	for n := 0; ; {
		page, err := x.page(ctx, "durable", q)
		if errors.Is(err, errNoIndex) {
			return fmt.Errorf("%s lists no durable executions by their retries and errors: its console must be on", x.Endpoint)
		}
		if err != nil {
			return err
		}
		for i := range page.Executions {
			if err := take(page.Executions[i].durable()); err != nil {
				return err
			}
			if n++; n == f.Limit {
				return nil
			}
		}
		if page.Next == "" {
			return nil
		}
		q.Set("after", page.Next)
	}
}

// durable converts an execution of the index to the API's form.
func (x *indexed) durable() *Durable {
	d := &Durable{ARN: x.ARN, Name: x.Name, FunctionARN: durable.FunctionARN(x.ARN), Status: string(x.Status),
		Start: Time{x.Start},
		Stop:  Time{x.Stop}}
	if x.Error != "" {
		d.Error = &durable.Error{ErrorType: &x.Error}
	}
	if len(x.Retries) > 0 {
		r := x.Retries[0]
		d.Retrying = retryText(r.State, r.Attempt, r.Attempts, r.Next, r.Error, time.Now())
	}
	return d
}

func (c *Client) listDurableOf(ctx context.Context, name string, f *DurableFilter, take func(*Durable) error) error {
	in := map[string]any{"FunctionName": name}
	if f.Status != "" {
		in["Statuses"] = []string{f.Status}
	}
	if !f.Since.IsZero() {
		in["StartedAfter"] = float64(f.Since.UnixMilli()) / 1000
	}
	for n := 0; ; {
		var page struct {
			DurableExecutions []Durable
			NextMarker        string
		}
		if err := c.lambda(ctx, "ListDurableExecutionsByFunction", in, &page); err != nil {
			return err
		}
		for i := range page.DurableExecutions {
			if err := take(&page.DurableExecutions[i]); err != nil {
				return err
			}
			if n++; n == f.Limit {
				return nil
			}
		}
		if page.NextMarker == "" {
			return nil
		}
		in["Marker"] = page.NextMarker
	}
}

// DescribeDurable describes an execution of a durable function.
func (c *Client) DescribeDurable(ctx context.Context, arn string) (*Durable, error) {
	d := new(Durable)
	return d, c.lambda(ctx, "GetDurableExecution", map[string]any{"DurableExecutionArn": arn}, d)
}

// HandlerOf returns the Handler and the Runtime of a function version, given by its ARN.
func (c *Client) HandlerOf(ctx context.Context, arn string) (handler, runtime string, err error) {
	var f struct{ Handler, Runtime string }
	err = c.lambda(ctx, "GetFunctionConfiguration", map[string]any{"FunctionName": arn}, &f)
	return f.Handler, f.Runtime, err
}

// StopDurable stops an execution of a durable function, with an error type and a message, either of which may be empty.
func (c *Client) StopDurable(ctx context.Context, arn, errorType, message string) error {
	in := map[string]any{"DurableExecutionArn": arn}
	if errorType != "" || message != "" {
		in["Error"] = errorObject(errorType, message, "")
	}
	return c.lambda(ctx, "StopDurableExecution", in, nil)
}

func errorObject(errorType, message, data string) map[string]string {
	e := map[string]string{}
	for k, v := range map[string]string{"ErrorType": errorType, "ErrorMessage": message, "ErrorData": data} {
		if v != "" {
			e[k] = v
		}
	}
	return e
}

// CallbackSuccess completes a callback of a durable execution with a result.
func (c *Client) CallbackSuccess(ctx context.Context, id, result string) error {
	return c.lambda(
		ctx,
		"SendDurableExecutionCallbackSuccess",
		map[string]any{"CallbackId": id, "Result": []byte(result)},
		nil,
	)
}

// CallbackFailure fails a callback of a durable execution. Empty parts of the error are left out.
func (c *Client) CallbackFailure(ctx context.Context, id, errorType, message, data string) error {
	return c.lambda(ctx, "SendDurableExecutionCallbackFailure", map[string]any{"CallbackId": id,
		"Error": errorObject(errorType, message, data)}, nil)
}

// CallbackHeartbeat prolongs the heartbeat timeout of a callback of a durable execution.
func (c *Client) CallbackHeartbeat(ctx context.Context, id string) error {
	return c.lambda(ctx, "SendDurableExecutionCallbackHeartbeat", map[string]any{"CallbackId": id}, nil)
}

// DurableEvent is an event of a durable execution. Raw is the event as the API returns it.
type DurableEvent struct {
	history.Event
	Raw json.RawMessage
}

// DurableHistory returns the events of a durable execution so far.
func (c *Client) DurableHistory(ctx context.Context, arn string) ([]DurableEvent, error) {
	var raw []json.RawMessage
	in := map[string]any{"DurableExecutionArn": arn, "IncludeExecutionData": true, "MaxItems": pageOfEvents}
	for {
		var page struct {
			Events     []json.RawMessage
			NextMarker string
		}
		if err := c.lambda(ctx, "GetDurableExecutionHistory", in, &page); err != nil {
			return nil, err
		}
		raw = append(raw, page.Events...)
		if page.NextMarker == "" {
			break
		}
		in["Marker"] = page.NextMarker
	}
	events, err := durable.ParseEvents(raw)
	if err != nil {
		return nil, fmt.Errorf("unexpected response of GetDurableExecutionHistory: %w", err)
	}
	all := make([]DurableEvent, len(events))
	for i := range events {
		all[i] = DurableEvent{events[i], raw[i]}
	}
	return all, nil
}

// FollowDurable calls take with the events of a durable execution as they arrive, until the execution or ctx ends.
func (c *Client) FollowDurable(ctx context.Context, arn string, take func(*DurableEvent) error) error {
	seen := 0
	for {
		events, err := c.DurableHistory(ctx, arn)
		if err != nil {
			return err
		}
		for i := seen; i < len(events); i++ {
			if err := take(&events[i]); err != nil {
				return err
			}
		}
		if seen = len(events); seen > 0 && events[seen-1].Type.Terminal() {
			return nil
		}
		if err := c.pause(ctx); err != nil {
			return err
		}
	}
}

// DurableOperation is an operation of a durable execution, as its history shows it.
type DurableOperation struct {
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	Type     string    `json:"type"`
	Status   string    `json:"status"`
	Attempts int64     `json:"attempts,omitempty"` // that have ended
	Next     time.Time `json:"next,omitzero"`      // when it is retried, when its wait ends, or when its callback times out
	Callback string    `json:"callbackId,omitempty"`
	Error    string    `json:"latestError,omitempty"`
}

// DurableTimeline reads a history.
func DurableTimeline(all []DurableEvent) *timeline.Timeline {
	events := make([]history.Event, len(all))
	for i := range all {
		events[i] = all[i].Event
	}
	return timeline.Read(events)
}

// DurableOperations returns the operations of an execution, in the order in which they started.
func DurableOperations(t *timeline.Timeline) []DurableOperation {
	operations := make([]DurableOperation, 0, len(t.Visits))
	for _, v := range t.Visits {
		o := DurableOperation{ID: v.Operation, Name: v.State, Type: v.Type, Status: statusOf(v), Next: v.Next,
			Callback: v.CallbackID, Error: v.Failure.Name}
		for i := range v.Attempts {
			if a := &v.Attempts[i]; a.Outcome == timeline.Succeeded || a.Outcome.Bad() {
				o.Attempts++
				if a.Failure.HasName() {
					o.Error = a.Failure.Name
				}
			}
		}
		operations = append(operations, o)
	}
	return operations
}

// statusOf returns the status of an operation in Lambda's spelling. One that the end of its execution interrupted keeps
// the status that it had.
func statusOf(v *timeline.Visit) string {
	switch {
	case v.Exit == 0 && v.Type == durable.TypeStep && v.Attempts[len(v.Attempts)-1].Outcome != timeline.Running &&
		v.Attempts[len(v.Attempts)-1].Outcome != timeline.Aborted:
		return durable.Pending
	case v.Exit == 0:
		return durable.Started
	case v.Outcome == timeline.TimedOut:
		return durable.TimedOut
	case v.Outcome == timeline.Failed:
		return durable.Failed
	case v.Outcome == timeline.Aborted && v.Type == durable.TypeWait:
		return durable.Cancelled
	case v.Outcome == timeline.Aborted:
		return durable.Stopped
	}
	return durable.Succeeded
}

// asExecution returns what verbs for several executions need of a durable one.
func (d *Durable) asExecution() *Execution {
	x := &Execution{ARN: d.ARN, MachineARN: d.FunctionARN, Name: d.Name, Status: history.Status(d.Status),
		Start: d.Start, Stop: d.Stop}
	if d.Error != nil {
		x.Error, x.Cause = d.Error.ErrorType, d.Error.ErrorMessage
	}
	return x
}
