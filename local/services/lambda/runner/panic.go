package runner

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/aws/aws-lambda-go/lambda/messages"
)

// maxFrames is the maximum length of the stack trace that the Go runtime sends.
const maxFrames = 32

// panicError describes a panic as aws-lambda-go does. It must be called by the deferred function that recovered the
// panic.
func panicError(value any) messages.InvokeResponse_Error {
	if own, ok := value.(messages.InvokeResponse_Error); ok {
		return own
	}
	return messages.InvokeResponse_Error{Message: fmt.Sprint(value), Type: typeName(value), StackTrace: stackTrace()}
}

func stackTrace() []*messages.InvokeResponse_Error_StackFrame {
	const hidden = 4 // Callers, stackTrace, panicError and the deferred function
	pcs := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(hidden, pcs)])
	var trace []*messages.InvokeResponse_Error_StackFrame
	for {
		frame, more := frames.Next()
		trace = append(trace, &messages.InvokeResponse_Error_StackFrame{
			Path: tracePath(frame.File, frame.Function), Line: int32(frame.Line), Label: traceLabel(frame.Function),
		})
		if !more {
			return trace
		}
	}
}

// tracePath shortens a file's path to as many elements as its import path has.
func tracePath(file, function string) string {
	cut := len(file)
	for range strings.Count(function, "/") + 2 {
		if cut = strings.LastIndexByte(file[:cut], '/'); cut < 0 {
			return file
		}
	}
	return file[cut+1:]
}

// traceLabel returns the function's name without its package.
func traceLabel(function string) string {
	function = function[strings.LastIndexByte(function, '/')+1:]
	return function[strings.IndexByte(function, '.')+1:]
}
