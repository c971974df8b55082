package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/services/stepfunctions"
)

// stage is where exec carries out its execution: a platform that lasts as long as the command, and that the functions
// of the execution reach at an address of the loopback interface.
type stage struct {
	platform  *platform
	functions *localFunctions
	trace     *trace // nil when none is wanted
	states    *sfn.Client
	served    chan error
	stop      context.CancelFunc
	leave     func() error // removes what was made for the command
}

// execScope is the account and region of executions of exec.
var execScope = aws.Scope{Account: "000000000000", Region: "us-east-1"}

// execRole is the role of the state machines of exec, which nothing assumes.
const execRole = "arn:aws:iam::000000000000:role/stepback"

// stage sets everything up.
func (c *execCmd) stage(ctx context.Context, o *order, std streams) (_ *stage, err error) {
	s := &stage{served: make(chan error, 1), leave: func() error { return nil }}
	around := newSurroundings()
	if c.TestCase != "" {
		if err := around.mock(c.Mock); err != nil {
			return nil, &exitError{exitUsage, err}
		}
	}
	data := c.Data
	if data == "" {
		if data, err = os.MkdirTemp("", "stepback-exec-"); err != nil {
			return nil, err
		}
		s.leave = func() error { return os.RemoveAll(data) }
	} else if err := os.MkdirAll(data, 0o750); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, s.leave())
	}
	s.functions, err = openFunctions(ctx, c.Lambda, "http://"+listener.Addr().String(), std)
	if err != nil {
		return nil, errors.Join(&exitError{exitUsage, err}, listener.Close(), s.leave())
	}
	made := setting{
		embedded: c.embeddedServices, data: data, listening: listener.Addr(), scope: execScope,
		clock: c.clock(), patience: c.Patience, journal: journal.NewMemory(), store: stepfunctions.NewMemory(),
		around: around, invokers: s.functions.invokers, log: slog.New(slog.DiscardHandler),
	}
	if !c.JSON && !c.Quiet {
		s.trace = newTrace(std.err, o.name)
		made.follow = s.trace.follow
	}
	if s.platform, err = made.open(ctx); err != nil {
		return nil, errors.Join(err, s.functions.close(ctx), listener.Close(), s.leave())
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	go func() { s.served <- s.platform.front(false).serve(serving, listener) }()
	s.states = statesClient(s.platform)
	return s, nil
}

func (c *execCmd) clock() *clock.Clock {
	if c.VirtualTime {
		return clock.Virtual(time.Now())
	}
	return clock.Real()
}

// statesClient is AWS's client of the platform's API, without a network.
func statesClient(p *platform) *sfn.Client {
	return sfn.New(sfn.Options{
		Region: p.scope.Region, BaseEndpoint: sdk.String(loopback.URL), HTTPClient: loopback.Client(p.states.Handler()),
		Retryer:     sdk.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider(p.scope.Account, "local", ""),
	})
}

// close takes everything down again.
func (s *stage) close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	err := s.platform.close(ctx) // first: no task may be left that calls a function
	s.stop()
	return errors.Join(err, <-s.served, s.functions.close(ctx), s.leave())
}

// create makes a state machine and returns its ARN.
func (s *stage) create(ctx context.Context, d definitionFile, kind sfntypes.StateMachineType) (string, error) {
	made, err := s.states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: &d.name, Definition: &d.text, RoleArn: sdk.String(execRole), Type: kind,
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", d.path, saidByAPI(err))
	}
	return *made.StateMachineArn, nil
}

// perform carries out the execution. It is nil when it could not be started; otherwise the error says why it was
// stopped, if it was.
func (c *execCmd) perform(ctx context.Context, s *stage, o *order) (*journal.Execution, []history.Event, error) {
	for _, d := range o.nested {
		if _, err := s.create(ctx, d, sfntypes.StateMachineTypeStandard); err != nil {
			return nil, nil, &exitError{exitUsage, err}
		}
	}
	kind := sfntypes.StateMachineTypeStandard
	if c.Express {
		kind = sfntypes.StateMachineTypeExpress
	}
	machine, err := s.create(ctx, o.main, kind)
	if err != nil {
		return nil, nil, &exitError{exitUsage, err}
	}
	if c.TestCase != "" {
		machine += "#" + c.TestCase
	}
	// Ctrl-C at this moment does not leave it open whether it was started.
	started, err := s.states.StartExecution(context.WithoutCancel(ctx),
		&sfn.StartExecutionInput{StateMachineArn: &machine, Name: &o.name, Input: &o.input})
	if err != nil {
		return nil, nil, &exitError{exitUsage, saidByAPI(err)}
	}
	return s.await(ctx, *started.ExecutionArn, c.Timeout)
}

// await waits for the end of the execution, and stops it when the context ends or its time is up.
func (s *stage) await(ctx context.Context, arn string, limit time.Duration) (*journal.Execution, []history.Event,
	error) {
	waiting := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	e, err := s.platform.engines.of(s.platform.scope)
	if err != nil {
		return nil, nil, err
	}
	x, err := e.Wait(waiting, arn)
	var stopped error
	ending := context.WithoutCancel(ctx)
	if err != nil && waiting.Err() != nil {
		if stopped = errTimeout; ctx.Err() != nil {
			stopped = ctx.Err()
		}
		x, err = stopAndWait(ending, e, arn, stopped)
	}
	if err != nil {
		return nil, nil, err
	}
	events, err := e.History(ending, arn)
	if err != nil {
		return nil, nil, err
	}
	if s.trace != nil {
		s.trace.end(x, s.functions.invokers.advice())
	}
	return x, events, stopped
}

// stopAndWait stops an execution and returns what became of it.
func stopAndWait(ctx context.Context, e *engine.Engine, arn string, why error) (*journal.Execution, error) {
	cause := "stopped by Ctrl-C"
	if errors.Is(why, errTimeout) {
		cause = why.Error()
	}
	if err := e.StopExecution(ctx, arn, history.NewFailure("Stopped", cause)); err != nil {
		return nil, err
	}
	return e.Wait(ctx, arn)
}

// saidByAPI is an error of the API without what the client says of its request.
func saidByAPI(err error) error {
	var said smithy.APIError
	if errors.As(err, &said) {
		return fmt.Errorf("%s: %s", said.ErrorCode(), said.ErrorMessage())
	}
	return err
}
