package awssdk

import (
	"errors"
	"slices"
	"unicode/utf8"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// Naming says which of its two names a member has.
type Naming int

// The namings of members: those of AWS SDK integrations, and those of optimized integrations.
const (
	SDK Naming = iota
	OptimizedNames
)

// Answer is the shape of what an action answers. It tells whether a JSON value could be such an answer in the result of
// a task, in the words of Step Functions. It calls no service.
type Answer struct {
	service string
	shape   *model.Shape
	free    []string
}

// AnswerOf finds what an action of a service answers, both named as in the Resource of an AWS SDK integration. It is
// nil for a service or an action that is not known, and for an action that answers nothing.
func AnswerOf(service, action string) (*Answer, error) {
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
	return &Answer{service: service, shape: o.Output}, nil
}

func isUnknown(err error) bool {
	var service *model.UnknownServiceError
	var operation *model.UnknownOperationError
	return errors.As(err, &service) || errors.As(err, &operation)
}

// Free lets members of the answer itself be any JSON, as where an optimized integration parses text.
func (a *Answer) Free(names ...string) { a.free = append(a.free, names...) }

// Check tells whether a value could be the answer, whose members it wants by their names in one kind of integration;
// without required, members may be missing. Members that the shape does not have may be there. The error is an
// *AnswerError.
func (a *Answer) Check(v jsonvalue.Value, names Naming, required bool) error {
	c := answerCheck{answer: a, style: sdkStyle, required: required}
	if names == OptimizedNames {
		c.style = optimizedStyle
	}
	if why := c.value(v, a.shape, ""); why != "" {
		return &AnswerError{why}
	}
	return nil
}

// AnswerError says what is wrong with a value, as Step Functions words it.
type AnswerError struct{ why string }

// Error implements error.
func (e *AnswerError) Error() string { return e.why }

// answerCheck looks for the first thing that is wrong with a value. What its methods return is that, or empty.
type answerCheck struct {
	answer   *Answer
	style    *style
	required bool
}

// wanted are the JSON values that the types of models are in results, with the sentences about others. A timestamp and
// bytes are strings; a document is anything.
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

// value checks a value against a shape. A field of an array or a dictionary lends its name to what is in it.
func (c *answerCheck) value(v jsonvalue.Value, s *model.Shape, field string) string {
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

func (c *answerCheck) object(v jsonvalue.Value, s *model.Shape) string {
	shapes := make(map[string]*model.Shape, len(s.Members))
	for _, m := range s.Members {
		name := c.style.member(m)
		if _, ok := v.Get(name); !ok && m.Required && c.required {
			return "Required field '" + name + "' is missing"
		}
		if s != c.answer.shape || !slices.Contains(c.answer.free, name) {
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

func (c *answerCheck) length(s *model.Shape, n int, field string) string {
	low, high := c.bounds(s)
	switch {
	case low != nil && float64(n) < *low:
		return "Field '" + field + "' is smaller than the minimum length"
	case high != nil && float64(n) > *high:
		return "Field '" + field + "' exceeds the maximum length"
	}
	return ""
}

func (c *answerCheck) number(s *model.Shape, n float64, field string) string {
	low, high := c.bounds(s)
	switch {
	case low != nil && n < *low:
		return "Field '" + field + "' is less than the minimum value"
	case high != nil && n > *high:
		return "Field '" + field + "' exceeds the maximum value"
	}
	return ""
}

// older are the upper bounds of shapes that Step Functions still knew in November 2025, where models have raised them
// since July of that year.
var older = map[string]float64{"lambda.MemorySize": 10_240}

// bounds are those of a shape as Step Functions knows them.
func (c *answerCheck) bounds(s *model.Shape) (low, high *float64) {
	if limit, ok := older[c.answer.service+"."+s.Name]; ok {
		return s.Min, &limit
	}
	return s.Min, s.Max
}
