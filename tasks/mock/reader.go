package mock

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// reader collects what is wrong with a configuration.
type reader struct{ errs []error }

func (r *reader) problem(place, what string) {
	r.errs = append(r.errs, fmt.Errorf("%s %s", place, what))
}

// object returns the keys of an object, and complains about anything else.
func (r *reader) object(place string, v jsonvalue.Value) []string {
	if v.Kind() != jsonvalue.Object {
		r.problem(place, "must be an object")
	}
	return v.Keys()
}

// members complains about an object that is none, or has other members than these.
func (r *reader) members(place string, v jsonvalue.Value, allowed ...string) {
	for _, key := range r.object(place, v) {
		if !slices.Contains(allowed, key) {
			r.problem(place+"."+key, "is unknown; here may be "+strings.Join(allowed, ", "))
		}
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
