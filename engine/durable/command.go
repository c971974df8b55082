package durable

import "encoding/json"

// Command is one thing that happens to a durable execution. Exactly one member is set, apart from Held.
type Command struct {
	// Held lists the IDs of the STEPs whose retries are due at the time of the command and do not begin.
	Held       []string    `json:",omitempty"`
	Start      *Start      `json:",omitempty"`
	Invoke     *Invoke     `json:",omitempty"`
	Checkpoint *Checkpoint `json:",omitempty"`
	Return     *Return     `json:",omitempty"`
	Tick       *Tick       `json:",omitempty"`
	Callback   *Callback   `json:",omitempty"`
	Chained    *Outcome    `json:",omitempty"`
	Stop       *Stop       `json:",omitempty"`
	Retry      *Retry      `json:",omitempty"`
}

// Start begins the execution.
type Start struct {
	ARN string
	// ID is the last part of the ARN, which identifies the EXECUTION operation. Secret is the key of the execution's
	// callback IDs and checkpoint tokens.
	ID, Secret string
	Input      string
	// TimeoutSeconds is the time after which the execution times out, 1 to 31,622,400.
	TimeoutSeconds int64
}

// Invoke begins an invocation of the function. RequestID identifies it. An earlier invocation that has not returned is
// lost: its tokens are no longer valid.
type Invoke struct{ RequestID string }

// Checkpoint is a request of the running invocation.
type Checkpoint struct {
	Token       string
	ClientToken string   `json:",omitempty"`
	Updates     []Update `json:",omitempty"`
	// Targets maps the ID of each CHAINED_INVOKE operation that Updates starts to the function that it invokes.
	Targets map[string]Target `json:",omitempty"`
}

// Return ends an invocation. Error is set if the function failed, and Throttled is true if it could not be invoked now;
// Error then says why. Otherwise, Output is the function's response as JSON text.
type Return struct {
	RequestID string
	Output    string `json:",omitempty"`
	Error     *Error `json:",omitempty"`
	// Fatal is true if no later invocation can succeed, so that the execution fails with Error.
	Fatal     bool `json:",omitempty"`
	Throttled bool `json:",omitempty"`
}

// Tick ends the waits whose time has come.
type Tick struct{}

// Callback completes a CALLBACK, or keeps it alive if Heartbeat is true.
type Callback struct {
	ID        string // of the callback, not of the operation
	Heartbeat bool   `json:",omitempty"`
	Outcome
}

// Outcome is the end of an operation: a status, and either a result or an error.
type Outcome struct {
	OperationID string  `json:",omitempty"`
	Status      string  `json:",omitempty"`
	Result      *string `json:",omitempty"`
	Error       *Error  `json:",omitempty"`
}

// Stop ends the execution before its function does.
type Stop struct{ Error *Error }

// Text returns the command as JSON text.
func (c *Command) Text() (string, error) {
	b, err := json.Marshal(c)
	return string(b), err
}

// ParseCommand parses a text that Text returned.
func ParseCommand(text string) (*Command, error) {
	c := new(Command)
	return c, json.Unmarshal([]byte(text), c)
}

// Retry ends the wait of a STEP that is to be retried, so that its next attempt may start now. With the ID of the
// EXECUTION, it ends the wait after an invocation that failed, so that the function is invoked now.
type Retry struct{ OperationID string }
