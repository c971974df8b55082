// Package invocation defines the invocation of a Lambda function: the request, the response, the errors of the
// Invoke operation, and the interface of its implementations. Tasks, fault injection, the embedded Lambda and its
// API all use these types, so a call is passed from the state machine to the function without conversion. The
// package runs nothing.
package invocation
