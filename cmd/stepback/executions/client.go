package executions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"stepback/aws/client"
	"stepback/engine/history"
)

// Caller calls operations by name, with Go values for documents; *client.Named implements it.
type Caller interface {
	Call(ctx context.Context, operation string, in, out any) error
}

// Client calls one endpoint. It is safe for concurrent use if its Caller is.
type Client struct {
	// States calls Step Functions.
	States Caller
	// Lambda calls Lambda, for durable executions; nil if there is no Lambda.
	Lambda Caller
	// Every is the interval at which Follow polls; 0 means half a second.
	Every time.Duration
	// Index, if not nil, is queried for filters that the API does not support. Whether the endpoint has an index is
	// only known after the first query.
	Index *Index
	// Looks is the maximum number of executions that List inspects itself, for filters that neither the API nor an
	// index supports. 0 means 1,000.
	Looks int
}

// looks is the default value of Client.Looks.
const looks = 1000

// BoundedError reports that List has not inspected all executions.
type BoundedError struct{ Looked int }

// Error implements error.
func (e *BoundedError) Error() string {
	return fmt.Sprintf("only the newest %d executions were searched, because the API has no index of retries and errors; "+
		"name a machine, or a time with --since", e.Looked)
}

// Time is a time as represented in the API's documents: seconds since 1970.
type Time struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(b []byte) error {
	var seconds *float64
	if err := json.Unmarshal(b, &seconds); err != nil || seconds == nil {
		return err
	}
	t.Time = time.UnixMilli(int64(math.Round(*seconds * 1000))).UTC()
	return nil
}

// Execution is an execution as listed or described by the API.
type Execution struct {
	ARN        string         `json:"executionArn"`
	MachineARN string         `json:"stateMachineArn"`
	MapRunARN  string         `json:"mapRunArn,omitempty"`
	Name       string         `json:"name"`
	Status     history.Status `json:"status"`
	Start      Time           `json:"startDate"`
	Stop       Time           `json:"stopDate,omitzero"`
	Items      int64          `json:"itemCount,omitempty"`
	Redrives   int64          `json:"redriveCount,omitempty"`
	// Input, Output, Error and Cause come from descriptions; lists lack them.
	Input  string  `json:"input,omitempty"`
	Output string  `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
	Cause  *string `json:"cause,omitempty"`
	// RedriveStatus is REDRIVABLE, NOT_REDRIVABLE or REDRIVABLE_BY_MAP_RUN. RedriveReason says why the execution
	// cannot be redriven.
	RedriveStatus string `json:"redriveStatus,omitempty"`
	RedriveReason string `json:"redriveStatusReason,omitempty"`
	// Retrying describes the retry that the execution waits for. It is empty if the execution waits for none, or if
	// the caller did not ask for it.
	Retrying string `json:"retrying,omitempty"`
}

// Ended reports whether the execution has ended.
func (x *Execution) Ended() bool { return x.Status != history.Running && x.Status != "PENDING_REDRIVE" }

// Failure returns the error of an execution that ended without success.
func (x *Execution) Failure() history.Failure {
	var f history.Failure
	if x.Error != nil {
		f.SetName(*x.Error)
	}
	if x.Cause != nil {
		f.SetCause(*x.Cause)
	}
	return f
}

// Machine is a state machine as listed by the API.
type Machine struct {
	ARN     string `json:"stateMachineArn"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Created Time   `json:"creationDate"`
}

// pages calls a listing operation until it has no further page or take returns false.
func pages[T any](ctx context.Context, c Caller, operation string, in map[string]any, member string,
	take func(T) (more bool, err error)) error {
	asked := map[string]any{}
	for k, v := range in {
		asked[k] = v
	}
	for {
		var out map[string]json.RawMessage
		if err := c.Call(ctx, operation, asked, &out); err != nil {
			return Said(err)
		}
		var found []T
		if raw := out[member]; raw != nil {
			if err := json.Unmarshal(raw, &found); err != nil {
				return fmt.Errorf("unexpected response of %s: %w", operation, err)
			}
		}
		for _, one := range found {
			if more, err := take(one); err != nil || !more {
				return err
			}
		}
		var next string
		if raw := out["nextToken"]; raw != nil {
			_ = json.Unmarshal(raw, &next) // null means no token
		}
		if next == "" {
			return nil
		}
		asked["nextToken"] = next
	}
}

// Said reduces an error of the API to its code and message, without what the client adds about its request. Other
// errors are returned unchanged.
func Said(err error) error {
	var e *client.Error
	if errors.As(err, &e) {
		return &Refusal{e.Code, e.Message}
	}
	return err
}

// Refusal is an error response of the API.
type Refusal struct{ Code, Message string }

// Error implements error.
func (e *Refusal) Error() string { return e.Code + ": " + e.Message }

// Machines returns the state machines, in the order of the API.
func (c *Client) Machines(ctx context.Context) ([]Machine, error) {
	var all []Machine
	err := pages(ctx, c.States, "ListStateMachines", nil, "stateMachines", func(m Machine) (bool, error) {
		all = append(all, m)
		return true, nil
	})
	return all, err
}

// Machine returns the ARN of a state machine given its name or ARN. The error lists the existing state machines.
func (c *Client) Machine(ctx context.Context, name string) (string, error) {
	if strings.HasPrefix(name, "arn:") {
		return name, nil
	}
	all, err := c.Machines(ctx)
	if err != nil {
		return "", err
	}
	names := make([]string, 0, len(all))
	for _, m := range all {
		if m.Name == name {
			return m.ARN, nil
		}
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		return "", fmt.Errorf("there is no state machine %s; there are none at all", name)
	}
	const shown = 20
	return "", fmt.Errorf("there is no state machine %s; there are %s", name,
		strings.Join(names[:min(shown, len(names))], ", "))
}

// Definition returns the definition and the name of the state machine with the given name or ARN.
func (c *Client) Definition(ctx context.Context, name string) (definition, machine string, err error) {
	arn, err := c.Machine(ctx, name)
	if err != nil {
		return "", "", err
	}
	var out struct{ Definition, Name string }
	err = Said(c.States.Call(ctx, "DescribeStateMachine", map[string]any{"stateMachineArn": arn}, &out))
	return out.Definition, out.Name, err
}
