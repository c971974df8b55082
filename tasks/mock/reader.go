package mock

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// reader collects the problems of a configuration.
type reader struct{ errs []error }

func (r *reader) problem(place, what string) {
	r.errs = append(r.errs, fmt.Errorf("%s %s", place, what))
}

// object returns the keys of an object, and reports a problem for any other value.
func (r *reader) object(place string, v jsonvalue.Value) []string {
	if v.Kind() != jsonvalue.Object {
		r.problem(place, "must be an object")
	}
	return v.Keys()
}

// members reports a problem for a value that is not an object or has members other than allowed.
func (r *reader) members(place string, v jsonvalue.Value, allowed ...string) {
	for _, key := range r.object(place, v) {
		if !slices.Contains(allowed, key) {
			r.problem(place+"."+key, "is unknown; here may be "+strings.Join(allowed, ", "))
		}
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
