package functions

import (
	"stepback/aws"
	"stepback/local/services/lambda/runner"
)

// Usage is what an account uses in a region of what it may.
type Usage struct {
	Functions  int
	CodeSize   int64 // bytes of deployment packages
	Unreserved int   // concurrent invocations that no function has reserved
}

// Usage returns what the functions of a scope use.
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
