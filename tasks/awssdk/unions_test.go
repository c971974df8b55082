package awssdk

import (
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// TestUnions finds every union in the parameters and results of every action: each has members that tasks can name, and
// every document something that makes it.
func TestUnions(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			seen := map[reflect.Type]bool{}
			for _, m := range methodsOf(s) {
				walk(m.In(1), seen)
				walk(m.Out(0), seen)
			}
			for u := range seen {
				switch {
				case u.Kind() != reflect.Interface:
				case u.Implements(documentType):
					if v := s.document; v == nil || !reflect.TypeOf(v(nil)).Implements(u) {
						t.Errorf("nothing makes a %s", u)
					}
				case isUnion(u) && !hasMember(s, u):
					t.Errorf("no member of %s is listed", u)
				}
			}
		})
	}
}

// methodsOf lists the types of the methods that carry actions out.
func methodsOf(s *Service) []reflect.Type {
	client := s.Client(aws.Config{Region: "us-east-1"})
	var all []reflect.Type
	if some, ok := client.(actions); ok {
		for _, m := range some {
			all = append(all, reflect.TypeOf(m))
		}
		return all
	}
	v := reflect.ValueOf(client)
	for i := range v.NumMethod() {
		if m := v.Method(i).Type(); isOperation(m, v.Type().Method(i).Name) {
			all = append(all, m)
		}
	}
	return all
}

func walk(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] || t == reflect.TypeFor[middleware.Metadata]() {
		return
	}
	seen[t] = true
	switch t.Kind() { //nolint:exhaustive // the others have no members
	case reflect.Pointer, reflect.Slice, reflect.Map:
		walk(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); isMember(&f) {
				walk(f.Type, seen)
			}
		}
	}
}

// isUnion tells unions from documents and streams.
func isUnion(t reflect.Type) bool {
	return strings.HasSuffix(t.PkgPath(), "/types") && t.NumMethod() > 0
}

func hasMember(s *Service, union reflect.Type) bool {
	for _, m := range s.unions {
		if reflect.PointerTo(reflect.TypeOf(m)).Implements(union) {
			return true
		}
	}
	return false
}
