// Package invocation is what one invocation of a Lambda function is: the request, the answer, the errors of the Invoke
// operation, and the interface of whatever carries it out. Tasks, fault injection, the embedded Lambda and its API all
// pass these types on, so that a call is the same value from the state machine to the function. It runs nothing.
package invocation
