package runner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"stepback/tasks/lambda/invocation"
)

// Defaults of a Function, as the Lambda service has them.
const (
	DefaultTimeout     = 3 * time.Second
	DefaultMemoryMB    = 128
	DefaultConcurrency = 1000
)

// Function is what Register and Replace make known. Exactly one of Handler and Command is set.
type Function struct {
	// Name has 1 to 64 characters out of A-Z a-z 0-9 - and _.
	Name string
	// Version is the number of a published version; the default is $LATEST.
	Version string
	// Handler is what the function's main passes to lambda.Start: a function of one of the shapes that Start documents,
	// or a type with Invoke(ctx, []byte) ([]byte, error). It is called from many goroutines. What lambda.NewHandler
	// returns is refused: its Invoke returns bytes out of a pool that the next invocation overwrites.
	Handler any
	// Command is a bootstrap binary and its arguments.
	Command []string
	// Dir is the working directory of Command, where the function's code is; the default is this process's.
	Dir string
	// Runtime is the identifier that AWS_EXECUTION_ENV names, by default provided.al2023; Entry is what _HANDLER says,
	// by default bootstrap.
	Runtime, Entry string
	// Interpreter says in the log of a cold start what runs the function; the default is Runtime.
	Interpreter string
	// LogGroup is the log group of what it logs; the default is /aws/lambda/NAME.
	LogGroup string
	// Env is added to the environment that Lambda sets for a Command. Nothing but PATH and TMPDIR is inherited from
	// this process.
	Env map[string]string
	// Timeout limits one invocation; the default is 3 s.
	Timeout time.Duration
	// MemoryMB is how much memory a Command may have of its own, where the system tells how much that is (Linux): a
	// process that has more while it works on an event is killed. What it starts is not counted. A Handler is only
	// told.
	MemoryMB int
	// Concurrency is the number of invocations at one time above which further ones are throttled; the default is
	// 1,000.
	Concurrency int
	// Environments is the number of execution environments (for a Command: processes) above which an invocation waits
	// for one to come free instead of starting another; the default is Concurrency.
	Environments int
	// AnyAnswer passes an answer that is no JSON on as it is, which Lambda does; without it such an answer is the
	// function's error.
	AnyAnswer bool
	// Traced has invocations traced that do not belong to a trace yet, as Options.Sample decides.
	Traced bool
	// Packages, when set, says in which directory a Command finds a package that AWS's runtime brings along, such as
	// "@aws-sdk/client-s3", and may fetch it first. How long that takes does not count to the function's time.
	Packages func(ctx context.Context, name string) (dir string, err error)
	// Quiet leaves out of the log what the service writes there itself: START, END and REPORT of every invocation, and
	// the errors that it answers with.
	Quiet bool
	// Released, when set, is called once when the function has been replaced, removed or closed and its last execution
	// environment has ended. It must be quick and must not call the Service.
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
		f.Timeout = DefaultTimeout
	}
	if f.MemoryMB == 0 {
		f.MemoryMB = DefaultMemoryMB
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
