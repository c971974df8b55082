package invocation

import (
	"context"
)

// The invocation types of Lambda; an empty Type means RequestResponse.
const (
	RequestResponse = "RequestResponse"
	Event           = "Event"
	DryRun          = "DryRun"
)

// The payload limits of Lambda, in bytes.
const (
	MaxRequestBytes  = 6 << 20     // of a synchronous invocation
	MaxResponseBytes = 6<<20 + 100 // includes the service's envelope
	MaxEventBytes    = 1 << 20     // of an asynchronous invocation
	MaxLogTailBytes  = 4 << 10     // of Answer.LogTail
	tail             = "Tail"      // the LogType that requests the log's tail
	Unhandled        = "Unhandled" // the FunctionError of a response that describes an error
)

// Request is an invocation of a function.
type Request struct {
	// State is the state of a state machine that makes the invocation, and Attempt how often it has tried before: 0
	// means the first attempt. Fault injection depends on them. State is empty for invocations from outside of state
	// machines.
	State   string
	Attempt int64
	// RoleARN is the role in the task's Credentials; a function without an ARN is looked up in its account. Empty
	// means the execution's role.
	RoleARN string

	FunctionName string // a name, a partial or a full ARN, with or without qualifier
	Qualifier    string // empty, a version or an alias
	Payload      []byte // JSON, at most MaxRequestBytes or MaxEventBytes; empty means {}
	Valid        bool   // the caller has validated Payload as JSON
	// Type is RequestResponse, Event or DryRun; empty means RequestResponse.
	Type string
	// LogType "Tail" requests the last MaxLogTailBytes of the invocation's log.
	LogType string
	// ClientContext is the client context that the caller passes with the event, as JSON.
	ClientContext []byte
	// InvokedARN is the invoked ARN as the function sees it; the default is the function's ARN with the qualifier of
	// the call.
	InvokedARN string
	// RequestID is the ID of the invocation, the same for all attempts of an event; the default is a new one.
	RequestID string
}

// WantsLog reports whether the request asks for the log's tail.
func (r *Request) WantsLog() bool { return r.LogType == tail }

// Answer is Lambda's response to an invocation: with status 200 the function's response, with 202 the event was
// accepted, with 204 a dry run succeeded.
type Answer struct {
	StatusCode      int
	FunctionError   string // Unhandled if Payload is {"errorMessage","errorType",…}
	Payload         []byte // empty means null
	ExecutedVersion string
	RequestID       string
	LogTail         []byte // nil unless requested
}

// Invoker performs invocations. Its errors are *aws.Error for errors of the Invoke operation, whose codes state
// machines see with the prefix "Lambda.", or ctx's if ctx ended first. It does not modify the request.
type Invoker interface {
	Invoke(ctx context.Context, r *Request) (*Answer, error)
}
