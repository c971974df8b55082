package functions

import (
	"stepback/aws"
	"stepback/local/services/lambda/runner"
)

// Usage holds the resources that the functions of an account use in a region, and those that remain available.
type Usage struct {
	Functions  int
	CodeSize   int64 // total bytes of deployment packages
	Unreserved int   // concurrent invocations that no function has reserved
}

// Usage returns the usage of a scope.
func (s *Service) Usage(scope aws.Scope) Usage {
	u := Usage{Unreserved: runner.DefaultConcurrency}
	a := s.known(scope)
	if a == nil {
		return u
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, r := range a.functions {
		u.Functions++
		for _, c := range r.all() {
			u.CodeSize += c.CodeSize
		}
		if r.Reserved != nil {
			u.Unreserved -= *r.Reserved
		}
	}
	return u
}
