// Package invocation defines the invocation of a Lambda function: the request, the response, the errors of the Invoke
// operation, and the interface of everything that performs it. Tasks, fault injection, the embedded Lambda and its
// API all pass these types on, so that a call is the same value from the state machine to the function. It runs
// nothing.
package invocation
