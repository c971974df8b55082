// Package xray sends a function's attempts and its calls to AWS X-Ray. If AWS Lambda has chosen to record the trace of
// an invocation, the attempt and each call become a subsegment in it.
//
// It sends datagrams to the daemon that runs next to a function (AWS_XRAY_DAEMON_ADDRESS) and never waits for it.
// It sends the texts of statements, never their arguments.
package xray
