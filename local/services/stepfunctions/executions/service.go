package executions

import (
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/local/services/stepfunctions/statemachines"
)

// Machines provides the state machines of executions. Errors are *aws.Errors if a machine, version or alias does
// not exist.
type Machines interface {
	// Target resolves the ARN of a machine, a version or an alias to the revision to start.
	Target(scope aws.Scope, arn string) (*statemachines.Target, error)
	// Plan returns the compiled definition of a revision.
	Plan(e *engine.Engine, r *statemachines.Revision) (*engine.StateMachine, error)
	// Revision returns a revision by its ID, or statemachines.ErrNotFound.
	Revision(id string) (*statemachines.Revision, error)
	// ExecutionList returns the name under which the engine lists the executions of a machine, a version or an
	// alias.
	ExecutionList(scope aws.Scope, arn string) (string, error)
	// Deleting reports whether a machine is being deleted.
	Deleting(arn string) bool
}

// Config holds the dependencies of a Service. All fields but Sample are required.
type Config struct {
	Machines Machines
	// Engine returns the engine of an account and region.
	Engine func(aws.Scope) (*engine.Engine, error)
	// TestCases enables starting executions for a test case whose name follows the ARN: stateMachine:NAME#TESTCASE.
	TestCases bool
	// Sample decides whether to trace an execution of a machine with a tracingConfiguration, if the caller has not
	// decided. nil traces none.
	Sample func(scope aws.Scope, machine string) bool
	Now    func() time.Time
}

// Service implements the operations. It is safe for concurrent use.
type Service struct {
	cfg       Config
	histories histories
}

// New returns the service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// Operations returns the operations by their names.
func (s *Service) Operations() map[string]server.Operation {
	return map[string]server.Operation{
		"StartExecution":                   server.Handle(s.startExecution),
		"StartSyncExecution":               server.Handle(s.startSyncExecution),
		"DescribeExecution":                server.Handle(s.describeExecution),
		"StopExecution":                    server.Handle(s.stopExecution),
		"RedriveExecution":                 server.Handle(s.redriveExecution),
		"ListExecutions":                   server.Handle(s.listExecutions),
		"GetExecutionHistory":              server.Handle(s.getExecutionHistory),
		"DescribeStateMachineForExecution": server.Handle(s.describeStateMachineForExecution),
		"DescribeMapRun":                   server.Handle(s.describeMapRun),
		"ListMapRuns":                      server.Handle(s.listMapRuns),
		"UpdateMapRun":                     server.Handle(s.updateMapRun),
	}
}

// none is the response of operations that return nothing.
type none struct{}
