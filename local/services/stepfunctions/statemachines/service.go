package statemachines

import (
	"errors"
	"sync"
	"time"

	"stepback/asl"
	"stepback/aws"
	"stepback/aws/model"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/configuration"
	"stepback/local/services/stepfunctions/paging"
	"stepback/local/services/stepfunctions/resource"
)

// ErrNotFound reports that a Store does not have a state machine or a revision.
var ErrNotFound = errors.New("statemachines: no such record")

// Store stores state machines and their revisions. Implementations are safe for concurrent use. The records they
// return belong to the caller.
type Store interface {
	// Machine returns a state machine by its unqualified ARN, or ErrNotFound.
	Machine(arn string) (*Machine, error)
	// MachinesBehind returns at most n state machines whose ARNs begin with prefix, in the order of creation. It
	// starts after the machine with the given creation time and ARN. Its duration does not depend on how many other
	// machines there are.
	MachinesBehind(prefix string, created time.Time, arn string, n int) ([]*Machine, error)
	PutMachine(m *Machine) error
	DeleteMachine(arn string) error
	// Revision returns a revision by its ID, or ErrNotFound. Revisions that executions were started from outlive
	// their state machine.
	Revision(id string) (*Revision, error)
	PutRevision(r *Revision) error
	DeleteRevision(id string) error
}

// Log logs the executions of state machines with a loggingConfiguration.
type Log interface {
	// Subscribe prepares the log groups of a loggingConfiguration. The error is an *aws.Error if one does not exist.
	Subscribe(scope aws.Scope, l configuration.Logging) error
	// Forget drops what the log remembers of a revision.
	Forget(revision string)
}

// Config holds the dependencies of a Service. All are required.
type Config struct {
	Store Store
	// Engine returns the engine of an account and region, which compiles definitions and runs executions.
	Engine func(aws.Scope) (*engine.Engine, error)
	Log    Log
	Now    func() time.Time
}

// Service implements the operations. It is safe for concurrent use.
type Service struct {
	cfg     Config
	created paging.CreationTimes

	mu       sync.Mutex                      // serializes changes of state machines
	compiled map[string]*engine.StateMachine // by revision
}

// New returns the service.
func New(cfg Config) *Service { return &Service{cfg: cfg, compiled: map[string]*engine.StateMachine{}} }

// Operations returns the operations by their names.
func (s *Service) Operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateStateMachine":             server.Handle(s.createStateMachine),
		"DescribeStateMachine":           server.Handle(s.describeStateMachine),
		"UpdateStateMachine":             server.Handle(s.updateStateMachine),
		"DeleteStateMachine":             server.Handle(s.deleteStateMachine),
		"ListStateMachines":              server.Handle(s.listStateMachines),
		"ValidateStateMachineDefinition": server.Handle(s.validateStateMachineDefinition),
		"PublishStateMachineVersion":     server.Handle(s.publishStateMachineVersion),
		"ListStateMachineVersions":       server.Handle(s.listStateMachineVersions),
		"DeleteStateMachineVersion":      server.Handle(s.deleteStateMachineVersion),
		"CreateStateMachineAlias":        server.Handle(s.createStateMachineAlias),
		"DescribeStateMachineAlias":      server.Handle(s.describeStateMachineAlias),
		"UpdateStateMachineAlias":        server.Handle(s.updateStateMachineAlias),
		"DeleteStateMachineAlias":        server.Handle(s.deleteStateMachineAlias),
		"ListStateMachineAliases":        server.Handle(s.listStateMachineAliases),
	}
}

// none is the response of operations that return nothing.
type none struct{}

// Revision returns a revision by its ID, or ErrNotFound.
func (s *Service) Revision(id string) (*Revision, error) { return s.cfg.Store.Revision(id) }

// Deleting reports whether a state machine is being deleted. arn is unqualified.
func (s *Service) Deleting(arn string) bool {
	m, err := s.cfg.Store.Machine(arn)
	return err == nil && m.Deleting
}

// machine returns the state machine for an ARN, which may be qualified. The caller holds the lock.
func (s *Service) machine(scope aws.Scope, r *resource.ARN) (*Machine, error) {
	if r.Scope != scope {
		return nil, apierror.NoMachine(r.Text)
	}
	m, err := s.cfg.Store.Machine(r.Machine())
	if errors.Is(err, ErrNotFound) {
		return nil, apierror.NoMachine(r.Text)
	}
	if err != nil {
		return nil, err
	}
	if m.Deleting {
		return s.bury(scope, m, r)
	}
	return m, nil
}

// Plan returns the compiled form of a revision.
func (s *Service) Plan(e *engine.Engine, r *Revision) (*engine.StateMachine, error) {
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
	if found := engine.Validate(r.Definition, r.Type == TypeExpress, model.CheckAction); asl.HasErrors(found) {
		return nil, apierror.InvalidDefinition(asl.InvalidDefinition(found))
	}
	return compile(e, r)
}

// compile compiles a revision's definition, which must already have been accepted.
func compile(e *engine.Engine, r *Revision) (*engine.StateMachine, error) {
	m, err := e.Compile(engine.Definition{
		Name: r.Name, Text: r.Definition, RoleARN: r.RoleARN, Express: r.Type == TypeExpress,
	})
	if err != nil {
		return nil, apierror.InvalidDefinition(err.Error())
	}
	return m, nil
}
