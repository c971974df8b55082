package stepfunctions

import (
	"sync"

	"stepback/aws"
	"stepback/engine"
)

// engines holds the engines of accounts and regions. Each engine is created on first use.
type engines struct {
	make func(aws.Scope) (*engine.Engine, error)

	mu   sync.Mutex
	made map[aws.Scope]*engine.Engine
}

// open returns the engine of an account and region.
func (e *engines) open(scope aws.Scope) (*engine.Engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if made := e.made[scope]; made != nil {
		return made, nil
	}
	made, err := e.make(scope)
	if err == nil {
		e.made[scope] = made
	}
	return made, err
}
