// Package responses checks values against the responses of AWS services, as they appear in the results of tasks, and
// names their members. It calls no service.
package responses

import (
	"errors"
	"slices"
	"unicode/utf8"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// Response is the shape of an action's response. It checks whether a JSON value could be such a response, as it appears
// in the result of a task. Its error messages are those of Step Functions.
type Response struct {
	service string
	shape   *model.Shape
	free    []string
}

// Of returns the shape of an action's response. Service and action are named as in the Resource of an AWS SDK
// integration. It returns nil for an unknown service or action, and for an action without a response.
func Of(service, action string) (*Response, error) {
	s, err := model.Find(service)
	if isUnknown(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := s.Action(action)
	if isUnknown(err) || err == nil && o.Output == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Response{service: service, shape: o.Output}, nil
}

func isUnknown(err error) bool {
	var service *model.UnknownServiceError
	var operation *model.UnknownOperationError
	return errors.As(err, &service) || errors.As(err, &operation)
}

// Free allows top-level members of the response to be any JSON, as where an optimized integration parses text.
func (r *Response) Free(names ...string) { r.free = append(r.free, names...) }

// Check checks whether a value could be the response. names gives the members their names; if required is
// false, members may be missing. Members that the shape does not have are allowed. The error is an *Error.
func (r *Response) Check(v jsonvalue.Value, names *Naming, required bool) error {
	c := check{response: r, names: names, required: required}
	if why := c.value(v, r.shape, ""); why != "" {
		return &Error{why}
	}
	return nil
}

// Error describes what is wrong with a value, in Step Functions' wording.
type Error struct{ why string }

// Error implements error.
func (e *Error) Error() string { return e.why }

// check finds the first problem with a value. Its methods return the problem, or "" if there is none.
type check struct {
	response *Response
	names    *Naming
	required bool
}

// wanted maps model types to their JSON kinds in results and the error message for other kinds. Timestamps and bytes
// are strings; a document can be anything.
var wanted = map[model.Type]struct {
	kind jsonvalue.Kind
	must string
}{
	model.String: {jsonvalue.String, "must be a string"}, model.Timestamp: {jsonvalue.String, "must be a string"},
	model.Blob: {jsonvalue.String, "must be a string"}, model.Integer: {jsonvalue.Number, "must be a number"},
	model.Long: {jsonvalue.Number, "must be a number"}, model.Float: {jsonvalue.Number, "must be a number"},
	model.Double: {jsonvalue.Number, "must be a number"}, model.Boolean: {jsonvalue.Bool, "must be a boolean"},
	model.List: {jsonvalue.Array, "must be an array"}, model.Map: {jsonvalue.Object, "must be an object"},
	model.Structure: {jsonvalue.Object, "must be an object"},
}

// value checks a value against a shape. The elements of an array or a dictionary are reported under the name of its
// field.
func (c *check) value(v jsonvalue.Value, s *model.Shape, field string) string {
	if s.Type == model.Document || s.EventStream {
		return ""
	}
	if w := wanted[s.Type]; v.Kind() != w.kind {
		return "Field '" + field + "' " + w.must
	}
	switch s.Type {
	case model.Structure:
		return c.object(v, s)
	case model.List, model.Map:
		if why := c.length(s, v.Len(), field); why != "" {
			return why
		}
		for i := range v.Len() {
			if why := c.value(v.At(i), s.Element.Shape, field); why != "" {
				return why
			}
		}
		return ""
	case model.String, model.Blob, model.Timestamp:
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, v.Text()) {
			return "Field '" + field + "' is not an expected value"
		}
		return c.length(s, utf8.RuneCountInString(v.Text()), field)
	case model.Boolean:
		return ""
	default:
		return c.number(s, v.Float(), field)
	}
}

func (c *check) object(v jsonvalue.Value, s *model.Shape) string {
	shapes := make(map[string]*model.Shape, len(s.Members))
	for _, m := range s.Members {
		name := c.names.Member(m)
		if _, ok := v.Get(name); !ok && m.Required && c.required {
			return "Required field '" + name + "' is missing"
		}
		if s != c.response.shape || !slices.Contains(c.response.free, name) {
			shapes[name] = m.Shape
		}
	}
	for i, name := range v.Keys() {
		if shape, ok := shapes[name]; ok {
			if why := c.value(v.At(i), shape, name); why != "" {
				return why
			}
		}
	}
	return ""
}

func (c *check) length(s *model.Shape, n int, field string) string {
	low, high := c.bounds(s)
	switch {
	case low != nil && float64(n) < *low:
		return "Field '" + field + "' is smaller than the minimum length"
	case high != nil && float64(n) > *high:
		return "Field '" + field + "' exceeds the maximum length"
	}
	return ""
}

func (c *check) number(s *model.Shape, n float64, field string) string {
	low, high := c.bounds(s)
	switch {
	case low != nil && n < *low:
		return "Field '" + field + "' is less than the minimum value"
	case high != nil && n > *high:
		return "Field '" + field + "' exceeds the maximum value"
	}
	return ""
}

// staleBounds contains upper bounds that the models raised in or after July 2025. In November 2025, Step Functions
// still used the values given here.
var staleBounds = map[string]float64{"lambda.MemorySize": 10_240}

// bounds returns the bounds of a shape as Step Functions uses them.
func (c *check) bounds(s *model.Shape) (low, high *float64) {
	if limit, ok := staleBounds[c.response.service+"."+s.Name]; ok {
		return s.Min, &limit
	}
	return s.Min, s.Max
}
