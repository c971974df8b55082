// Package durabletest speaks the protocol of Lambda's durable functions in Go, for the tests and benchmarks of this
// module: AWS's SDK for Go is not available to it (docs/decisions/078-durable-functions-in-go.md).
//
// A Program is the code of a function. It is run again in each invocation; operations that have ended return what they
// returned before. One operation runs at a time.
package durabletest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stepback/engine/durable"
	"stepback/local/services/lambda/durablefunctions"
)

// Program is the code of a durable function. Its result is the execution's, as JSON, and its error the execution's
// error. It must return the errors of operations unchanged if it does not handle them.
type Program func(x *Execution, input json.RawMessage) (any, error)

// Error is an error with a type, as steps and callbacks fail with.
type Error struct{ Type, Message string }

// Error implements error.
func (e *Error) Error() string { return e.Type + ": " + e.Message }

// Interrupted is the type of the error of a step that was begun at most once, and whose end is unknown.
const Interrupted = "StepInterruptedError"

// Checkpoints sends the updates of an invocation.
type Checkpoints interface {
	// Checkpoint returns the next token and the operations that have changed.
	Checkpoint(ctx context.Context, arn, token string, updates []durable.Update) (next string, changed []Operation,
		err error)
	// State returns a page of the operations, and the marker of the next page.
	State(ctx context.Context, arn, token, marker string) (page []Operation, next string, err error)
}

// Operation holds what a Program needs of an operation.
type Operation struct {
	Id, Status       string //nolint:revive // the API's spelling
	ExecutionDetails *struct{ InputPayload string }
	StepDetails      *struct {
		Attempt int
		outcome
	}
	CallbackDetails *struct {
		CallbackId string //nolint:revive // the API's spelling
		outcome
	}
}

type outcome struct {
	Result string
	Error  *durable.Error
}

func (o outcome) get() (json.RawMessage, error) {
	if o.Error != nil {
		return nil, errorOf(o.Error)
	}
	return json.RawMessage(o.Result), nil
}

func errorOf(e *durable.Error) error {
	said := &Error{}
	if e.ErrorType != nil {
		said.Type = *e.ErrorType
	}
	if e.ErrorMessage != nil {
		said.Message = *e.ErrorMessage
	}
	return said
}

// Execution is one invocation of a durable function.
type Execution struct {
	// ARN is the execution's ARN.
	ARN string

	ctx   context.Context //nolint:containedctx // of the invocation
	to    Checkpoints
	token string
	known map[string]*Operation
	count int
}

var errSuspended = errors.New("durabletest: suspended")

// Handler returns the handler of a function, as lambda.Start and functions.Program accept it.
func Handler(to Checkpoints, run Program) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error) {
		var in struct {
			DurableExecutionArn, CheckpointToken string
			InitialExecutionState                struct {
				Operations []Operation
				NextMarker string
			}
		}
		if err := json.Unmarshal(payload, &in); err != nil {
			return nil, err
		}
		x := &Execution{ARN: in.DurableExecutionArn, ctx: ctx, to: to, token: in.CheckpointToken,
			known: map[string]*Operation{}}
		x.learn(in.InitialExecutionState.Operations)
		for marker := in.InitialExecutionState.NextMarker; marker != ""; {
			page, next, err := to.State(ctx, x.ARN, x.token, marker)
			if err != nil {
				return nil, err
			}
			x.learn(page)
			marker = next
		}
		input := in.InitialExecutionState.Operations[0].ExecutionDetails.InputPayload
		result, err := run(x, json.RawMessage(input))
		return respond(result, err)
	}
}

// respond returns the response of an invocation.
func respond(result any, err error) (json.RawMessage, error) {
	out := struct {
		Status string
		Result *string        `json:",omitempty"`
		Error  *durable.Error `json:",omitempty"`
	}{Status: durable.Succeeded}
	var failed *Error
	switch {
	case errors.Is(err, errSuspended):
		out.Status = durable.Pending
	case errors.As(err, &failed):
		out.Status, out.Error = durable.Failed, durable.NewError(failed.Type, failed.Message)
	case err != nil:
		return nil, err // the invocation fails, and is repeated
	default:
		text, err := json.Marshal(result)
		if err != nil {
			return nil, err
		}
		s := string(text)
		out.Result = &s
	}
	return json.Marshal(out)
}

func (x *Execution) learn(all []Operation) {
	for i := range all {
		x.known[all[i].Id] = &all[i]
	}
}

func (x *Execution) checkpoint(updates ...durable.Update) error {
	next, changed, err := x.to.Checkpoint(x.ctx, x.ARN, x.token, updates)
	if err != nil {
		return err
	}
	x.token = next
	x.learn(changed)
	return nil
}

// next returns the ID of the next operation, and the operation if the history has it.
func (x *Execution) next() (string, *Operation) {
	x.count++
	id := strconv.Itoa(x.count)
	return id, x.known[id]
}

// StepOptions are the options of a step.
type StepOptions struct {
	// AtMostOnce has the step fail with Interrupted if an earlier invocation began it and did not report its end.
	AtMostOnce bool
	// Delay returns the delay before the next attempt after attempt n, counted from 1, has failed; 0 means no further
	// attempt. It is rounded to whole seconds of at least one. Nil means no retries.
	Delay func(n int, err *Error) time.Duration
}

// Step runs f, and returns its result as JSON in this invocation and in later ones.
func (x *Execution) Step(name string, o StepOptions, f func(attempt int) (any, error)) (json.RawMessage, error) {
	id, op := x.next()
	attempt := 1
	if op != nil {
		attempt = op.StepDetails.Attempt + 1
		switch op.Status {
		case durable.Succeeded, durable.Failed:
			return op.StepDetails.get()
		case durable.Pending:
			return nil, errSuspended
		}
	}
	step := durable.Update{Id: id, Name: name, Type: durable.TypeStep, SubType: "Step", Action: durable.ActionStart}
	if op == nil || op.Status == durable.Ready {
		if err := x.checkpoint(step); err != nil {
			return nil, err
		}
	} else if o.AtMostOnce {
		return x.failed(step, o, attempt, &Error{Interrupted, "the step was interrupted"})
	}
	result, err := f(attempt)
	var failure *Error
	if errors.As(err, &failure) {
		return x.failed(step, o, attempt, failure)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	s := string(text)
	step.Action, step.Payload = durable.ActionSucceed, &s
	return text, x.checkpoint(step)
}

// failed ends an attempt of a step that has failed.
func (x *Execution) failed(step durable.Update, o StepOptions, attempt int, failure *Error) (json.RawMessage, error) {
	step.Action, step.Error = durable.ActionFail, durable.NewError(failure.Type, failure.Message)
	if o.Delay != nil {
		if delay := o.Delay(attempt, failure); delay > 0 {
			step.Action = durable.ActionRetry
			step.StepOptions = &durable.StepOptions{NextAttemptDelaySeconds: int64(max(1,
				(delay + time.Second/2).Truncate(time.Second).Seconds()))}
		}
	}
	if err := x.checkpoint(step); err != nil {
		return nil, err
	}
	if step.Action == durable.ActionRetry {
		return nil, errSuspended
	}
	return nil, failure
}

// Wait suspends the execution for a number of seconds.
func (x *Execution) Wait(name string, seconds int64) error {
	id, op := x.next()
	if op == nil {
		err := x.checkpoint(durable.Update{Id: id, Name: name, Type: durable.TypeWait, SubType: "Wait",
			Action: durable.ActionStart, WaitOptions: &durable.WaitOptions{WaitSeconds: seconds}})
		if err != nil {
			return err
		}
	}
	if op == nil || op.Status == durable.Started {
		return errSuspended
	}
	return nil
}

// Callback waits until the callback is completed, and returns its result. The timeouts are in seconds; 0 means none.
func (x *Execution) Callback(name string, timeout, heartbeat int64) (json.RawMessage, error) {
	id, op := x.next()
	if op == nil {
		err := x.checkpoint(durable.Update{Id: id, Name: name, Type: durable.TypeCallback, SubType: "Callback",
			Action: durable.ActionStart, CallbackOptions: &durable.CallbackOptions{TimeoutSeconds: timeout,
				HeartbeatTimeoutSeconds: heartbeat}})
		if err != nil {
			return nil, err
		}
	}
	if op == nil || op.Status == durable.Started {
		return nil, errSuspended
	}
	return op.CallbackDetails.get()
}

// Service returns the Checkpoints of a service in this process. It may be called before the service is there.
func Service(of func() *durablefunctions.Service) Checkpoints { return inProcess(of) }

type inProcess func() *durablefunctions.Service

// Checkpoint implements Checkpoints.
func (of inProcess) Checkpoint(ctx context.Context, arn, token string, updates []durable.Update) (string, []Operation,
	error) {
	state, err := of().Checkpoint(ctx, arn, &durable.Checkpoint{Token: token, Updates: updates})
	if err != nil {
		return "", nil, err
	}
	changed, err := operations(state)
	return state.Token, changed, err
}

// State implements Checkpoints.
func (of inProcess) State(ctx context.Context, arn, token, marker string) ([]Operation, string, error) {
	state, err := of().State(ctx, arn, token, marker, 0)
	if err != nil {
		return nil, "", err
	}
	page, err := operations(state)
	return page, state.Marker, err
}

func operations(s *durablefunctions.State) ([]Operation, error) {
	text, err := json.Marshal(s.Operations)
	if err != nil {
		return nil, err
	}
	var all []Operation
	return all, json.Unmarshal(text, &all)
}

// API returns the Checkpoints of the Lambda API at a URL, which is not signed.
func API(endpoint string) Checkpoints { return api{strings.TrimSuffix(endpoint, "/")} }

type api struct{ endpoint string }

// call sends a request. path is below that of the execution.
func (a api) call(ctx context.Context, method, arn, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, a.endpoint+"/2025-12-01/durable-executions/"+url.PathEscape(arn)+path,
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		var said bytes.Buffer
		_, _ = said.ReadFrom(answer.Body)
		return fmt.Errorf("%s: %s: %s", path, answer.Status, said.String())
	}
	return json.NewDecoder(answer.Body).Decode(out)
}

// Checkpoint implements Checkpoints.
func (a api) Checkpoint(ctx context.Context, arn, token string, updates []durable.Update) (string, []Operation, error) {
	var out struct {
		CheckpointToken   string
		NewExecutionState struct{ Operations []Operation }
	}
	err := a.call(ctx, http.MethodPost, arn, "/checkpoint", map[string]any{"CheckpointToken": token, "Updates": updates}, &out)
	return out.CheckpointToken, out.NewExecutionState.Operations, err
}

// State implements Checkpoints.
func (a api) State(ctx context.Context, arn, token, marker string) ([]Operation, string, error) {
	var out struct {
		Operations []Operation
		NextMarker string
	}
	err := a.call(ctx, http.MethodGet, arn, "/state?"+url.Values{"CheckpointToken": {token}, "Marker": {marker}}.Encode(), nil, &out)
	return out.Operations, out.NextMarker, err
}
