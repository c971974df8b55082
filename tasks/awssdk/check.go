package awssdk

import (
	"reflect"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"stepback/asl/jsonvalue"
	"stepback/engine"
)

// clientTypes are the types of the services' clients, by *Service.
var clientTypes sync.Map

// input finds the type of an action's input, without a client that could call it.
func (s *Service) input(action string) (reflect.Type, bool) {
	known, ok := clientTypes.Load(s)
	if !ok {
		known, _ = clientTypes.LoadOrStore(s, reflect.TypeOf(s.Client(aws.Config{})))
	}
	name := upperFirst(action)
	m, ok := known.(reflect.Type).MethodByName(name)
	const in = 2 // after the receiver and the context
	if !ok || m.Type.NumIn() <= in || m.Type.In(in).Kind() != reflect.Pointer || m.Type.In(in).Elem().Name() != name+
		"Input" {
		return nil, false
	}
	return m.Type.In(in).Elem(), true
}

// check says why parameters cannot be used for an action; text is what the error quotes of them. What is not known to
// be wrong, such as an action that there is not, or a member that is missing, is left to the call.
func (s *Service) check(action string, params jsonvalue.Value, text string) error {
	t, ok := s.input(action)
	if !ok {
		return nil
	}
	d := decoder{service: s}
	d.object(reflect.New(t).Elem(), params, "Parameters")
	if len(d.problems) > 0 {
		return unusableParameters(text, d.problems)
	}
	return nil
}

// CheckParameters implements engine.ParameterChecker.
func (Integration) CheckParameters(t *engine.Task) error {
	s := service(strings.TrimPrefix(t.Service, "aws-sdk:"))
	params, err := t.Value()
	if s == nil || err != nil {
		return nil //nolint:nilerr // which the call finds out
	}
	return s.check(t.Action, params, t.Parameters)
}

// CheckParameters implements engine.ParameterChecker. Parameters that have to be prepared, which may need calls, are
// left to the call.
func (o *Optimized) CheckParameters(t *engine.Task) error {
	params, err := t.Value()
	if err != nil || o.prepare != nil {
		return nil //nolint:nilerr // which the call finds out
	}
	if o.check != nil && o.check(params) != nil {
		return nil //nolint:nilerr // which the call finds out first
	}
	return o.service.check(o.action, o.withTexts(params), t.Parameters)
}
