package executions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
)

// IsDurable reports whether an ARN is that of an execution of a durable Lambda function.
func IsDurable(arn string) bool {
	return strings.HasPrefix(arn, "arn:") && strings.Contains(arn, durable.InARN)
}

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
}

// Ended reports whether the execution has ended.
func (d *Durable) Ended() bool { return d.Status != durable.Running }

// DurableFilter selects executions of durable functions. Function is a name or an ARN; empty means all durable
// functions. Status and Since restrict the list if they are not zero. Limit is the maximum number for each function; 0
// means all.
type DurableFilter struct {
	Function, Status string
	Since            time.Time
	Limit            int
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

// DurableEvent is an event of a durable execution. Raw is the whole event.
type DurableEvent struct {
	Raw      json.RawMessage `json:"-"`
	Type     string          `json:"EventType"`
	ID       int64           `json:"EventId"`
	At       Time            `json:"EventTimestamp"`
	SubType  string
	Name     string
	Of       string `json:"Id"` // the operation's ID
	Callback *struct {
		ID string `json:"CallbackId"`
	} `json:"CallbackStartedDetails"`
	Wait *struct {
		End Time `json:"ScheduledEndTimestamp"`
	} `json:"WaitStartedDetails"`
	StepFailed        *durableStep `json:"StepFailedDetails"`
	StepSucceeded     *durableStep `json:"StepSucceededDetails"`
	CallbackFailed    *durableStep `json:"CallbackFailedDetails"`
	ContextFailed     *durableStep `json:"ContextFailedDetails"`
	InvokeFailed      *durableStep `json:"ChainedInvokeFailedDetails"`
	ExecutionFailed   *durableStep `json:"ExecutionFailedDetails"`
	CallbackTimedOut  *durableStep `json:"CallbackTimedOutDetails"`
	InvokeTimedOut    *durableStep `json:"ChainedInvokeTimedOutDetails"`
	InvokeStopped     *durableStep `json:"ChainedInvokeStoppedDetails"`
	ExecutionTimedOut *durableStep `json:"ExecutionTimedOutDetails"`
	ExecutionStopped  *durableStep `json:"ExecutionStoppedDetails"`
}

// durableStep is the end of an operation; only a step has RetryDetails.
type durableStep struct {
	Error struct {
		Payload *struct{ ErrorType, ErrorMessage string }
	}
	RetryDetails *struct {
		CurrentAttempt          int64
		NextAttemptDelaySeconds int64
	}
}

// Failure returns the type and message of the error in the event; both are empty if it has none.
func (e *DurableEvent) Failure() (errorType, message string) {
	for _, d := range []*durableStep{e.StepFailed, e.CallbackFailed, e.CallbackTimedOut, e.ContextFailed,
		e.InvokeFailed, e.InvokeTimedOut, e.InvokeStopped, e.ExecutionFailed, e.ExecutionTimedOut, e.ExecutionStopped} {
		if d != nil && d.Error.Payload != nil {
			return d.Error.Payload.ErrorType, d.Error.Payload.ErrorMessage
		}
	}
	return "", ""
}

// DurableHistory returns the events of a durable execution so far.
func (c *Client) DurableHistory(ctx context.Context, arn string) ([]DurableEvent, error) {
	var all []DurableEvent
	in := map[string]any{"DurableExecutionArn": arn, "IncludeExecutionData": true, "MaxItems": pageOfEvents}
	for {
		var page struct {
			Events     []json.RawMessage
			NextMarker string
		}
		if err := c.lambda(ctx, "GetDurableExecutionHistory", in, &page); err != nil {
			return nil, err
		}
		for _, raw := range page.Events {
			e := DurableEvent{Raw: raw}
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, fmt.Errorf("unexpected response of GetDurableExecutionHistory: %w", err)
			}
			all = append(all, e)
		}
		if page.NextMarker == "" {
			return all, nil
		}
		in["Marker"] = page.NextMarker
	}
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
		if seen = len(events); seen > 0 && slices.Contains(durableEnds, events[seen-1].Type) {
			return nil
		}
		if err := c.pause(ctx); err != nil {
			return err
		}
	}
}

var durableEnds = []string{"ExecutionSucceeded", "ExecutionFailed", "ExecutionTimedOut", "ExecutionStopped"}

// DurableOperation is an operation of a durable execution, as its history shows it.
type DurableOperation struct {
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	Type     string    `json:"type"`
	Status   string    `json:"status"`
	Attempts int64     `json:"attempts,omitempty"`
	Next     time.Time `json:"next,omitzero"` // when it is retried, or when its wait ends
	Callback string    `json:"callbackId,omitempty"`
	Error    string    `json:"latestError,omitempty"`
}

// DurableOperations returns the operations of a history, in the order in which they started.
func DurableOperations(events []DurableEvent) []DurableOperation {
	all, at := []DurableOperation{}, map[string]int{}
	for i := range events {
		e := &events[i]
		kind, status := splitEvent(e.Type)
		if kind == "" || e.Of == "" {
			continue
		}
		k, ok := at[e.Of]
		if !ok {
			k = len(all)
			at[e.Of] = k
			all = append(all, DurableOperation{ID: e.Of, Name: e.Name, Type: kind})
		}
		o := &all[k]
		o.Status, o.Next = status, time.Time{}
		if failed, _ := e.Failure(); failed != "" {
			o.Error = failed
		}
		if e.Callback != nil {
			o.Callback = e.Callback.ID
		}
		if e.Wait != nil {
			o.Next = e.Wait.End.Time
		}
		for _, d := range []*durableStep{e.StepFailed, e.StepSucceeded} {
			if d == nil || d.RetryDetails == nil {
				continue
			}
			o.Attempts = d.RetryDetails.CurrentAttempt
			if delay := d.RetryDetails.NextAttemptDelaySeconds; delay > 0 {
				o.Status, o.Next = durable.Pending, e.At.Add(time.Duration(delay)*time.Second)
			}
		}
	}
	return all
}

// splitEvent splits the type of an operation's event, such as StepFailed, into a type and a status of operations.
func splitEvent(eventType string) (kind, status string) {
	for prefix, kind := range map[string]string{"Step": durable.TypeStep, "Wait": durable.TypeWait,
		"Callback": durable.TypeCallback, "Context": durable.TypeContext, "ChainedInvoke": durable.TypeChainedInvoke} {
		end, ok := strings.CutPrefix(eventType, prefix)
		if !ok {
			continue
		}
		switch end {
		case "TimedOut":
			return kind, durable.TimedOut
		default:
			return kind, strings.ToUpper(end)
		}
	}
	return "", ""
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
