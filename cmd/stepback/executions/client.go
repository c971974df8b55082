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

// Caller calls operations by their names, with Go values for documents; *client.Named is one.
type Caller interface {
	Call(ctx context.Context, operation string, in, out any) error
}

// Client asks one endpoint. It is safe for concurrent use when its Caller is.
type Client struct {
	// States calls Step Functions.
	States Caller
	// Every is how long Follow waits between two looks; 0 means half a second.
	Every time.Duration
	// Index, if not nil, is asked for what the API cannot select. Whether the endpoint has one shows then.
	Index *Index
	// Looks is into how many executions List looks, for what the API cannot select and no index knows; 0 means 1,000.
	Looks int
}

// looks is into how many executions List looks unless it is said otherwise.
const looks = 1000

// BoundedError says that List has not looked into all executions.
type BoundedError struct{ Looked int }

// Error implements error.
func (e *BoundedError) Error() string {
	return fmt.Sprintf("only the newest %d executions were looked into: the API tells neither who retries nor with what they "+
		"failed; name a machine, or a time with --since", e.Looked)
}

// Time is a time as the API's documents have it: seconds since 1970.
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

// Execution is an execution as lists and descriptions have it.
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
	// Input, Output, Error and Cause are those of descriptions; lists lack them.
	Input  string  `json:"input,omitempty"`
	Output string  `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
	Cause  *string `json:"cause,omitempty"`
	// RedriveStatus is REDRIVABLE, NOT_REDRIVABLE or REDRIVABLE_BY_MAP_RUN, RedriveReason says why not.
	RedriveStatus string `json:"redriveStatus,omitempty"`
	RedriveReason string `json:"redriveStatusReason,omitempty"`
	// Retrying is what the execution waits for to be tried again, in words; empty when it does not, or nobody asked.
	Retrying string `json:"retrying,omitempty"`
}

// Ended reports whether the execution has come to its end.
func (x *Execution) Ended() bool { return x.Status != history.Running && x.Status != "PENDING_REDRIVE" }

// Failure is how the execution ended without success.
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

// Machine is a state machine as lists have it.
type Machine struct {
	ARN     string `json:"stateMachineArn"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Created Time   `json:"creationDate"`
}

// pages calls a listing operation until it has no further page, or take says that it has enough.
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
				return fmt.Errorf("the answer of %s does not fit: %w", operation, err)
			}
		}
		for _, one := range found {
			if more, err := take(one); err != nil || !more {
				return err
			}
		}
		var next string
		if raw := out["nextToken"]; raw != nil {
			_ = json.Unmarshal(raw, &next) // null is no token
		}
		if next == "" {
			return nil
		}
		asked["nextToken"] = next
	}
}

// Said is an error of the API in its own words: code and message, without what the client says of its request. Other
// errors stay as they are.
func Said(err error) error {
	var e *client.Error
	if errors.As(err, &e) {
		return &Refusal{e.Code, e.Message}
	}
	return err
}

// Refusal is an error that the API answered with.
type Refusal struct{ Code, Message string }

// Error implements error.
func (e *Refusal) Error() string { return e.Code + ": " + e.Message }

// Machines yields the state machines, in the order of the API.
func (c *Client) Machines(ctx context.Context) ([]Machine, error) {
	var all []Machine
	err := pages(ctx, c.States, "ListStateMachines", nil, "stateMachines", func(m Machine) (bool, error) {
		all = append(all, m)
		return true, nil
	})
	return all, err
}

// Machine finds a state machine by its name or ARN. The error names those that there are.
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

// Definition is the definition, name and ARN of the state machine of a name or ARN.
func (c *Client) Definition(ctx context.Context, name string) (definition, machine string, err error) {
	arn, err := c.Machine(ctx, name)
	if err != nil {
		return "", "", err
	}
	var out struct{ Definition, Name string }
	err = Said(c.States.Call(ctx, "DescribeStateMachine", map[string]any{"stateMachineArn": arn}, &out))
	return out.Definition, out.Name, err
}
