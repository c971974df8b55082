package teststate

import (
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
)

// Config holds the dependencies of a Service. All are required.
type Config struct {
	// Engine returns the engine of an account and region, which compiles and runs the state.
	Engine func(aws.Scope) (*engine.Engine, error)
	Now    func() time.Time
}

// Service implements the operation. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns the service.
func New(cfg Config) *Service { return &Service{cfg} }

// Operations returns the operation by its name.
func (s *Service) Operations() map[string]server.Operation {
	return map[string]server.Operation{"TestState": server.Handle(s.testState)}
}
