package teststate

import (
	"context"
	"time"

	"stepback/aws"
	"stepback/engine"
)

// Config holds the dependencies of a Service. All are required.
type Config struct {
	// Run runs a test, as Engine.TestState of the account and region does.
	Run func(context.Context, aws.Scope, *engine.StateTest) (*engine.TestedState, error)
	Now func() time.Time
	// NewID returns the names of the state machine and the execution that the state pretends to belong to.
	NewID func() string
}

// Service implements the operation. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns the service.
func New(cfg Config) *Service { return &Service{cfg} }
