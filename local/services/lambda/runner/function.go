package runner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"stepback/tasks/lambda/invocation"
)

// Defaults of a Function, as on Lambda.
const (
	defaultTimeout     = 3 * time.Second
	defaultMemoryMB    = 128
	DefaultConcurrency = 1000
)

// Function describes a function to register. Exactly one of Handler and Command is set.
type Function struct {
	// Name has 1 to 64 characters of A-Z a-z 0-9 - and _.
	Name string
	// Version is the number of a published version; the default is $LATEST.
	Version string
	// Handler is the argument that the function's main passes to lambda.Start: a function of one of the shapes that
	// Start documents, or a type with Invoke(ctx, []byte) ([]byte, error). It is called from many goroutines. The
	// result of lambda.NewHandler is rejected: its Invoke returns bytes from a pool that the next invocation
	// overwrites.
	Handler any
	// Command is a bootstrap binary and its arguments.
	Command []string
	// Dir is the working directory of Command, which contains the function's code; the default is this process's.
	Dir string
	// Runtime is the identifier in AWS_EXECUTION_ENV; the default is provided.al2023. Entry is the value of
	// _HANDLER; the default is bootstrap.
	Runtime, Entry string
	// Interpreter names the program that runs the function, for the log of a cold start; the default is Runtime.
	Interpreter string
	// LogGroup is the function's log group; the default is /aws/lambda/NAME.
	LogGroup string
	// Env is added to the environment that Lambda sets for a Command. Nothing but PATH and TMPDIR is inherited from
	// this process.
	Env map[string]string
	// Timeout limits one invocation; the default is 3 s.
	Timeout time.Duration
	// MemoryMB is the maximum memory of a Command's process, where the system reports it (Linux): a process that
	// exceeds it while it handles an event is killed. Its child processes are not counted. For a Handler the value is
	// only reported.
	MemoryMB int
	// Concurrency is the maximum number of concurrent invocations; further ones are throttled. The default is 1,000.
	Concurrency int
	// Environments is the maximum number of execution environments (for a Command: processes). Beyond it, an
	// invocation waits for a free one instead of starting another. The default is Concurrency.
	Environments int
	// AnyAnswer makes a response that is not JSON be passed on unchanged, as Lambda does. Otherwise such a response
	// is a function error.
	AnyAnswer bool
	// Traced enables tracing of invocations that do not belong to a trace yet; Options.Sample decides which.
	Traced bool
	// Packages, if set, returns the directory in which a Command finds a package that AWS's runtime includes, such as
	// "@aws-sdk/client-s3"; it may fetch the package first. The time this takes does not count towards the function's
	// timeout.
	Packages func(ctx context.Context, name string) (dir string, err error)
	// Quiet omits from the log the lines that the service itself writes: START, END and REPORT of every invocation,
	// and the errors that it responds with.
	Quiet bool
	// Released, if set, is called once after the function has been replaced, removed or closed and its last execution
	// environment has ended. It must return quickly and must not call the Service.
	Released func()
}

func (f Function) withDefaults() Function {
	if f.Version == "" {
		f.Version = invocation.Latest
	}
	if f.Runtime == "" {
		f.Runtime = "provided.al2023"
	}
	if f.Interpreter == "" {
		f.Interpreter = f.Runtime
	}
	if f.LogGroup == "" {
		f.LogGroup = "/aws/lambda/" + f.Name
	}
	if f.Entry == "" {
		f.Entry = "bootstrap"
	}
	if f.Timeout == 0 {
		f.Timeout = defaultTimeout
	}
	if f.MemoryMB == 0 {
		f.MemoryMB = defaultMemoryMB
	}
	if f.Concurrency == 0 {
		f.Concurrency = DefaultConcurrency
	}
	if f.Environments == 0 {
		f.Environments = f.Concurrency
	}
	return f
}

func (f Function) check() error {
	if !invocation.IsName(f.Name) {
		return fmt.Errorf("function name %q: use 1 to 64 characters out of A-Z a-z 0-9 - and _", f.Name)
	}
	var problem error
	switch {
	case (f.Handler == nil) == (len(f.Command) == 0):
		problem = errors.New("set exactly one of Handler and Command")
	case f.Handler != nil && reflect.TypeOf(f.Handler).String() == "*lambda.handlerOptions":
		problem = errors.New("pass the function itself as Handler, not what lambda.NewHandler made of it")
	case f.Timeout < 0, f.MemoryMB < 0, f.Concurrency < 0, f.Environments < 0:
		problem = errors.New("the fields Timeout, MemoryMB, Concurrency and Environments must not be negative")
	default:
		return nil
	}
	return fmt.Errorf("function %s: %w", f.Name, problem)
}
