package functions

import (
	"maps"
	"slices"

	"stepback/aws"
)

// List returns the functions of a scope, sorted by name. It returns $LATEST of each function or, if versions is
// true, all their versions.
func (s *Service) List(scope aws.Scope, versions bool) []Configuration {
	a := s.known(scope)
	if a == nil {
		return nil
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	list := make([]Configuration, 0, len(a.functions))
	for _, name := range slices.Sorted(maps.Keys(a.functions)) {
		r := a.functions[name]
		if versions {
			list = append(list, qualified(r)...)
		} else {
			list = append(list, r.Latest)
		}
	}
	return list
}

// Versions returns the versions of a function, $LATEST first.
func (s *Service) Versions(scope aws.Scope, name string) ([]Configuration, error) {
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return nil, err
	}
	return qualified(r), nil
}

// qualified returns all versions of a function. The ARN of each names its version.
func qualified(r *record) []Configuration {
	list := r.all()
	list[0].FunctionArn += ":" + latest
	return list
}
