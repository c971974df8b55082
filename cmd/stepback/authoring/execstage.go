package authoring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local"
	"stepback/local/services/lambda/standin"
	"stepback/tasks/mock"
)

// stage is the environment in which exec runs its execution: a platform that lasts as long as the command.
type stage struct {
	platform *local.Platform
	standIns *standin.Set
	trace    *narration.Trace // nil if no trace is wanted
	states   *sfn.Client
	// definitions has what the execution may run. It is empty if functions may be elsewhere, or tasks are mocked.
	definitions []engine.Definition
}

// stage sets up the platform.
func (c *Exec) stage(ctx context.Context, o *order, std terminal.Streams) (_ *stage, err error) {
	cfg := local.Config{
		Dir: c.Data, Scope: workspace.Scope, Patience: c.Patience, Journal: journal.NewMemory(),
		MetricPeriod: time.Second, Overran: workspace.Overran(std.Err),
	}
	c.EmbeddedServices.Apply(&cfg)
	if err := c.Injection.Apply(&cfg, o.states()...); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if cfg.Mocks, err = c.mocks(o.main.Name); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if err := c.beside(ctx, &cfg); err != nil {
		return nil, err
	}
	if c.Data != "" && cfg.Beside == nil { // executions are kept, and unfinished ones continue
		cfg.Journal, cfg.Resumed = nil, workspace.Resuming(std)
	}
	if cfg.Listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s := &stage{}
	s.standIns, err = standin.Open(ctx, c.Lambda, workspace.FunctionEnvironment("http://"+cfg.Listener.Addr().String()), std.Err)
	if err != nil {
		return nil, errors.Join(exit.With(exit.Usage, fmt.Errorf("--lambda %w", err)), cfg.Listener.Close())
	}
	cfg.StandIns, cfg.Clock = s.standIns, c.clock()
	if !c.JSON && !c.Quiet {
		s.trace = narration.NewTrace(std.Err, std.ErrScreen(), o.name)
		cfg.Follow = s.trace.Follow
	}
	if s.platform, err = local.Open(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.closeFunctions(ctx))
	}
	s.states = workspace.StatesClient(s.platform)
	if cfg.Beside == nil && cfg.LambdaEndpoint == "" && cfg.Mocks == nil {
		for i, d := range append([]definitions.File{o.main}, o.nested...) {
			s.definitions = append(s.definitions, engine.Definition{Name: d.Name, Text: d.Text, Express: c.Express &&
				i == 0})
		}
	}
	return s, nil
}

// mocks opens the mock configuration, if there is one. It returns an error if the configuration has no test case for
// the machine, because tasks would call their services then.
func (c *Exec) mocks(machine string) (*mock.File, error) {
	mocks, err := workspace.OpenMocks(c.Mock)
	if mocks == nil || err != nil {
		return nil, err
	}
	cases, err := mocks.Cases(machine)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: name one of its machines with --machine", err)
	case c.TestCase == "":
		return nil, fmt.Errorf("--mock needs a test case: give --test-case NAME; %s has %s", machine,
			strings.Join(cases, ", "))
	}
	return mocks, nil
}

// beside makes the platform use the services of the process that has the data directory open, if there is one.
func (c *Exec) beside(ctx context.Context, cfg *local.Config) (err error) {
	if c.Data == "" {
		return nil
	}
	if cfg.Beside, err = local.Running(ctx, c.Data); cfg.Beside != nil {
		cfg.Dir = ""
	}
	return err
}

func (c *Exec) clock() *clock.Clock {
	if c.VirtualTime {
		return clock.Virtual(time.Now())
	}
	return clock.Real()
}

// close closes the platform and the functions.
func (s *stage) close(ctx context.Context) error {
	return errors.Join(s.platform.Close(), s.closeFunctions(ctx))
}

// closeFunctions ends the processes of --lambda. It runs last, because tasks may call them until then.
func (s *stage) closeFunctions(ctx context.Context) error {
	return workspace.CloseStandIns(ctx, s.standIns)
}

// create creates a state machine and returns its ARN.
func (s *stage) create(ctx context.Context, d definitions.File, kind sfntypes.StateMachineType) (string, error) {
	made, err := s.states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: &d.Name, Definition: &d.Text, RoleArn: sdk.String(workspace.Role), Type: kind,
	})
	var exists *sfntypes.StateMachineAlreadyExists
	if errors.As(err, &exists) { // of an earlier exec with the same --data
		arn := workspace.Scope.ARN("states", "stateMachine:"+d.Name)
		_, err = s.states.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{
			StateMachineArn: &arn, Definition: &d.Text,
		})
		if err == nil {
			return arn, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", d.Path, workspace.SaidByAPI(err))
	}
	return *made.StateMachineArn, nil
}

// perform runs the execution and returns it with its history. If it could not be started, the execution is nil. If
// it was stopped, the error is the reason.
func (c *Exec) perform(ctx context.Context, s *stage, o *order) (*journal.Execution, []history.Event, error) {
	for _, d := range o.nested {
		if _, err := s.create(ctx, d, sfntypes.StateMachineTypeStandard); err != nil {
			return nil, nil, exit.With(exit.Usage, err)
		}
	}
	kind := sfntypes.StateMachineTypeStandard
	if c.Express {
		kind = sfntypes.StateMachineTypeExpress
	}
	machine, err := s.create(ctx, o.main, kind)
	if err != nil {
		return nil, nil, exit.With(exit.Usage, err)
	}
	if c.TestCase != "" {
		machine += "#" + c.TestCase
	}
	// Ctrl-C at this moment must not leave it unclear whether the execution was started.
	started, err := s.states.StartExecution(context.WithoutCancel(ctx),
		&sfn.StartExecutionInput{StateMachineArn: &machine, Name: &o.name, Input: &o.input})
	if err != nil {
		return nil, nil, exit.With(exit.Usage, workspace.SaidByAPI(err))
	}
	return s.await(ctx, *started.ExecutionArn, c.Timeout)
}

// await waits for the end of the execution, and stops it if the context ends or the limit is exceeded.
func (s *stage) await(ctx context.Context, arn string, limit time.Duration) (*journal.Execution, []history.Event,
	error) {
	waiting := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	e, err := s.platform.Engine()
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
		s.trace.End(x, s.advice(e))
	}
	return x, events, stopped
}

// stopAndWait stops an execution and returns it after its end.
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

// unmet returns the functions that the definitions call and that have no implementation, without those in missing, in
// the order of the definitions.
func (s *stage) unmet(e *engine.Engine, missing []string) []string {
	var names []string
	for _, d := range s.definitions {
		m, err := e.Compile(d)
		if err != nil {
			continue // it has run, or it is a nested one that was not accepted
		}
		for _, call := range m.Functions() {
			name := standin.BareName(call.Function)
			if slices.Contains(missing, name) || slices.Contains(names, name) || slices.Contains(s.standIns.Names(),
				name) {
				continue
			}
			if _, err := s.platform.Functions.Get(s.platform.Scope, name, ""); err != nil {
				names = append(names, name)
			}
		}
	}
	return names
}

// advice returns how to configure the functions that were called but are not configured; empty if there are none. It
// also names the functions that the definitions call but the execution did not reach.
func (s *stage) advice(e *engine.Engine) string {
	missing, names := s.standIns.Missing(), s.standIns.Names()
	if len(missing) == 0 {
		return ""
	}
	said := "no implementation of " + strings.Join(missing, ", ")
	if more := s.unmet(e, missing); len(more) > 0 {
		said += ", nor of " + strings.Join(more, ", ") + " (not reached)"
	}
	said += ": give --lambda " + missing[0] + "=COMMAND, a URL or a bootstrap (stepback exec --help)"
	if len(names) > 0 {
		said += "; --lambda has " + strings.Join(names, ", ")
	}
	return said
}
