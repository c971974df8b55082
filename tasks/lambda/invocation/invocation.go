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
	MaxStreamBytes   = 200 << 20   // of a response that is streamed
	MaxEventBytes    = 1 << 20     // of an asynchronous invocation
	MaxLogTailBytes  = 4 << 10     // of Answer.LogTail
	tail             = "Tail"      // the LogType that requests the log's tail
	Unhandled        = "Unhandled" // the FunctionError of a response that describes an error
)

// Request is an invocation of a function.
type Request struct {
	// State is the state of a state machine that makes the invocation. Attempt is the number of earlier attempts: 0
	// means the first attempt. Fault injection depends on both. State is empty for invocations from outside of
	// state machines.
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
	// LogType is Tail to request the last MaxLogTailBytes of the invocation's log.
	LogType string
	// ClientContext is the client context that the caller passes with the event, as JSON.
	ClientContext []byte
	// InvokedARN is the invoked ARN as the function sees it; the default is the function's ARN with the qualifier of
	// the call.
	InvokedARN string
	// RequestID is the ID of the invocation. It is the same for all attempts of an event. The default is a new ID.
	RequestID string
	// DurableExecutionName is the name of the durable execution that the invocation starts; empty means a new name.
	DurableExecutionName string
	// TenantID is the tenant for whom the function runs, if the function isolates tenants; otherwise empty.
	TenantID string
	// Stream, if set, receives the response of a function that streams it, while the function writes it. Such a
	// response is not in Answer.Payload and may have MaxStreamBytes. Only synchronous invocations can have it.
	Stream Stream
}

// Stream receives a response in pieces. The Invoker calls one method at a time and has made the last call when Invoke
// returns. If a method returns an error, the rest of the response is discarded and the invocation returns that error.
type Stream interface {
	// Begin receives the answer without payload, before the first bytes of the response.
	Begin(a *Answer) error
	// Write receives the next bytes, which it must not retain. While it waits, so does the function.
	Write(p []byte) (int, error)
}

// WantsLog reports whether the request asks for the tail of the log.
func (r *Request) WantsLog() bool { return r.LogType == tail }

// Answer is Lambda's response to an invocation. Status 200 means that it contains the function's response, 202 that
// the event was accepted, and 204 that a dry run succeeded.
type Answer struct {
	StatusCode    int
	FunctionError string // Unhandled if Payload is {"errorMessage","errorType",…}
	Payload       []byte // empty means null
	// ContentType is the Content-Type that the function sent with Payload; empty if unknown.
	ContentType string
	// Streamed is true if the response was written to Request.Stream. If streaming failed, FunctionError and Payload
	// describe why.
	Streamed        bool
	ExecutedVersion string
	RequestID       string
	LogTail         []byte // nil unless requested
	// DurableExecutionARN is the ARN of the durable execution that the invocation started; empty if the function is
	// not durable.
	DurableExecutionARN string
}

// Invoker performs invocations. An error of the Invoke operation is an *aws.Error; state machines receive its code
// with the prefix "Lambda.". If ctx ends first, the error is ctx's. An Invoker does not modify the request.
type Invoker interface {
	Invoke(ctx context.Context, r *Request) (*Answer, error)
}
