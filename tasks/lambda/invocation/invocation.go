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
	MaxResponseBytes = 6<<20 + 100 // the service counts its envelope in
	MaxEventBytes    = 1 << 20     // of an asynchronous invocation
	MaxLogTailBytes  = 4 << 10     // of Answer.LogTail
	tail             = "Tail"      // the LogType that asks for it
	Unhandled        = "Unhandled" // the FunctionError of an answer that describes an error
)

// Request is one invocation of a function.
type Request struct {
	// State and Attempt say which state of a state machine invokes, and how often it has tried before: 0 is the first
	// attempt. Fault injection goes by them. State is empty for invocations that no state machine makes.
	State   string
	Attempt int64
	// RoleARN is the role of the task's Credentials, in whose account a function without an ARN is looked for; empty
	// for that of the execution.
	RoleARN string

	FunctionName string // a name, a partial or a full ARN, with or without qualifier
	Qualifier    string // empty, a version or an alias
	Payload      []byte // JSON, at most MaxRequestBytes or MaxEventBytes; empty means {}
	Valid        bool   // the caller knows that Payload is JSON, so that it need not be checked again
	// Type is RequestResponse, Event or DryRun; empty means the first.
	Type string
	// LogType "Tail" asks for the last MaxLogTailBytes of the invocation's log.
	LogType string
	// ClientContext is what the caller passes to the function beside the event, as JSON.
	ClientContext []byte
	// InvokedARN is what the function is told that it was invoked as; the default is its ARN with the qualifier that
	// the call named.
	InvokedARN string
	// RequestID is the id of the invocation, the same for all attempts of an event; the default is a new one.
	RequestID string
}

// WantsLog reports whether the request asks for the end of the log.
func (r *Request) WantsLog() bool { return r.LogType == tail }

// Answer is what Lambda answers to an invocation: with status 200 the function's answer, with 202 that the event was
// taken, with 204 that a dry run found nothing wrong.
type Answer struct {
	StatusCode      int
	FunctionError   string // Unhandled when Payload is {"errorMessage","errorType",…}
	Payload         []byte // empty means null
	ExecutedVersion string
	RequestID       string
	LogTail         []byte // nil unless it was asked for
}

// Invoker carries out invocations. Its errors are *aws.Error for errors of the Invoke operation, whose
// codes a state machine sees behind "Lambda.", or ctx's when that ended
// first. It does not change the request.
type Invoker interface {
	Invoke(ctx context.Context, r *Request) (*Answer, error)
}
