package stepfunctions

import (
	"context"
	"log/slog"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/delivery"
	"stepback/local/services/stepfunctions/activities"
	"stepback/local/services/stepfunctions/executions"
	"stepback/local/services/stepfunctions/statemachines"
	"stepback/local/services/stepfunctions/tags"
	"stepback/local/services/stepfunctions/teststate"
)

// Config configures a Service. All fields but Logs and Log are required.
type Config struct {
	// Open returns the engine of an account and region. It is called once for each. The creator of the engine must
	// close it.
	Open func(aws.Scope) (*engine.Engine, error)
	// Store stores the state machines.
	Store Store
	// TestCases enables starting executions for a test case whose name follows the ARN: stateMachine:NAME#TESTCASE.
	TestCases bool
	// Logs stores the logs of executions; nil discards them.
	Logs executions.LogGroups
	// Sample decides whether to trace an execution of a machine with a tracingConfiguration, if the caller has not
	// decided. nil traces none.
	Sample func(scope aws.Scope, machine string) bool
	// Now returns the current time.
	Now func() time.Time
	// Default is the account and region of requests that name none.
	Default aws.Scope
	Log     *slog.Logger
}

// Service implements the operations. It is safe for concurrent use.
type Service struct {
	cfg        Config
	engines    engines
	log        *executions.Log
	machines   *statemachines.Service
	activities *activities.Service
	executions *executions.Service
	tests      *teststate.Service
	tags       *tags.Service
}

// New returns the service.
func New(cfg Config) *Service {
	s := &Service{cfg: cfg, engines: engines{make: cfg.Open, made: map[aws.Scope]*engine.Engine{}}}
	s.log = executions.NewLog(executions.LogConfig{
		Groups: cfg.Logs, Revision: func(id string) (*statemachines.Revision, error) { return cfg.Store.Revision(id) },
		Now: cfg.Now, Log: cfg.Log,
	})
	s.machines = statemachines.New(statemachines.Config{
		Store: cfg.Store, Engine: s.engines.open, Log: s.log, Now: cfg.Now,
	})
	s.activities = activities.New(activities.Config{Store: cfg.Store, Engine: s.engines.open, Now: cfg.Now})
	s.executions = executions.New(executions.Config{
		Machines: s.machines, Engine: s.engines.open, TestCases: cfg.TestCases, Sample: cfg.Sample, Now: cfg.Now,
	})
	s.tests = teststate.New(teststate.Config{Run: s.runState, Now: cfg.Now, NewID: aws.NewID})
	s.tags = tags.New(s.machines, s.activities)
	return s
}

// runState runs the test of a state with the engine of its account and region.
func (s *Service) runState(ctx context.Context, scope aws.Scope, t *engine.StateTest) (*engine.TestedState, error) {
	e, err := s.engines.open(scope)
	if err != nil {
		return nil, err
	}
	return e.TestState(ctx, t)
}

// Handler serves the service's operations over AWS JSON 1.0.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model: "sfn", Operations: s.operations(), Words: words, Failure: unavailable, Default: s.cfg.Default,
		Log: s.cfg.Log,
	})
}

// Follow logs the events of a step of an execution according to the state machine's loggingConfiguration. Engines
// call it.
func (s *Service) Follow(x *journal.Execution, events []history.Event) { s.log.Follow(x, events) }

// Deliver implements delivery.Target, as executions.Service does.
func (s *Service) Deliver(ctx context.Context, to aws.ARN, m *delivery.Message) error {
	return s.executions.Deliver(ctx, to, m)
}
