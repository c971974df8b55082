package resultshape

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"stepback/asl/jsonvalue"
)

// archive holds a file for each service; `make shapes` writes it.
//
//go:embed shapes.zip
var archive []byte

var opened = sync.OnceValues(func() (*zip.Reader, error) {
	return zip.NewReader(bytes.NewReader(archive),
		int64(len(archive)))
})

// Find finds what an action of a service answers. The service is named as in the Resource of an AWS SDK integration, in
// lower case, such as cloudwatchlogs; the action as there, such as getLogEvents. It is nil for a service or an action
// that is not known, and for an action that answers nothing.
func Find(service, action string) (*Result, error) {
	z, err := opened()
	if err != nil || action == "" {
		return nil, err
	}
	f, err := z.Open(service)
	if err != nil { // a service that is not known has no file
		return nil, nil
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("the shapes of %s: %w", service, err)
	}
	s := &Service{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("the shapes of %s: %w", service, err)
	}
	i, ok := s.Operations[strings.ToUpper(action[:1])+action[1:]]
	if !ok {
		return nil, nil
	}
	return &Result{service: s, shape: i}, nil
}

// Result is what an action answers.
type Result struct {
	service *Service
	shape   int
}

// Free lets members of the result itself be any JSON, as where an optimized integration parses text.
func (r *Result) Free(names ...string) {
	s := r.service
	members := s.Shapes[r.shape].Members
	for i := range members {
		if slices.Contains(names, members[i].Name) {
			members[i].Shape = len(s.Shapes)
		}
	}
	s.Shapes = append(s.Shapes, Shape{Type: Any})
}

// Naming says which of its two names a member has.
type Naming int

// The namings of members: those of AWS SDK integrations, and those of optimized integrations.
const (
	SDK Naming = iota
	Optimized
)

// Check tells whether a value could be the result, whose members it wants by their names in one kind of integration;
// without required, members may be missing. Members that the shape does not have may be there. The error is an *Error.
func (r *Result) Check(v jsonvalue.Value, names Naming, required bool) error {
	c := checker{shapes: r.service.Shapes, names: names, required: required}
	if why := c.value(v, r.shape, ""); why != "" {
		return &Error{why}
	}
	return nil
}

// Error says what is wrong with a value, as Step Functions words it.
type Error struct{ why string }

// Error implements error.
func (e *Error) Error() string { return e.why }
