package stepfunctions

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"stepback/asl"
	"stepback/aws"
	"stepback/aws/model"
	"stepback/aws/server"
	"stepback/engine"
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
	Logs LogGroups
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
	cfg  Config
	logs sync.Map // by revision: *executionLog

	histories histories

	mu       sync.Mutex // serializes changes of state machines
	created  time.Time  // the latest; see creation
	engines  map[aws.Scope]*engine.Engine
	compiled map[string]*engine.StateMachine // by revision
}

// New returns the service.
func New(cfg Config) *Service {
	return &Service{cfg: cfg, engines: map[aws.Scope]*engine.Engine{}, compiled: map[string]*engine.StateMachine{}}
}

// Handler serves the service's operations over AWS JSON 1.0.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model: "sfn", Operations: s.operations(), Words: words, Failure: unavailable, Default: s.cfg.Default,
		Log: s.cfg.Log,
	})
}

// none is the response of operations that return nothing.
type none struct{}

// engine returns the engine of an account and region.
func (s *Service) engine(scope aws.Scope) (*engine.Engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engineOf(scope)
}

// engineOf is like engine, for callers that hold the lock.
func (s *Service) engineOf(scope aws.Scope) (*engine.Engine, error) {
	if e := s.engines[scope]; e != nil {
		return e, nil
	}
	e, err := s.cfg.Open(scope)
	if err == nil {
		s.engines[scope] = e
	}
	return e, err
}

// machine returns the state machine for an ARN, which may be qualified. The caller holds the lock.
func (s *Service) machine(scope aws.Scope, r *resource) (*Machine, error) {
	if r.scope != scope {
		return nil, noMachine(r.text)
	}
	m, err := s.cfg.Store.Machine(r.machine())
	if errors.Is(err, ErrNotFound) {
		return nil, noMachine(r.text)
	}
	if err != nil {
		return nil, err
	}
	if m.Deleting {
		return s.bury(scope, m, r)
	}
	return m, nil
}

// plan returns the compiled form of a revision.
func (s *Service) plan(e *engine.Engine, r *Revision) (*engine.StateMachine, error) {
	s.mu.Lock()
	m := s.compiled[r.ID]
	s.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := compile(e, r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.compiled[r.ID] = m
	s.mu.Unlock()
	return m, nil
}

// accept validates the definition of a new revision as the service does, and compiles it.
func accept(e *engine.Engine, r *Revision) (*engine.StateMachine, error) {
	if found := engine.Validate(r.Definition, r.Type == typeExpress, model.CheckAction); asl.HasErrors(found) {
		return nil, invalidDefinition(asl.InvalidDefinition(found))
	}
	return compile(e, r)
}

// compile compiles a revision's definition, which has been accepted before.
func compile(e *engine.Engine, r *Revision) (*engine.StateMachine, error) {
	m, err := e.Compile(engine.Definition{
		Name: r.Name, Text: r.Definition, RoleARN: r.RoleARN, Express: r.Type == typeExpress,
	})
	if err != nil {
		return nil, invalidDefinition(err.Error())
	}
	return m, nil
}
