package awssdk

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/aws/client"
	"stepback/engine"
	"stepback/jsonvalue"
)

// refusal is an error of a service.
type refusal struct {
	// shape is the name of the error's shape; empty for one that the service's model does not have.
	shape         string
	code, message string
	status        int
	request, host string // request IDs; S3 has two
}

// naming is how an integration names errors and words their causes.
type naming struct {
	prefix string // of every name
	base   string // the name of errors that are not modeled
	cause  func(*refusal) string
}

// sdkNaming is that of AWS SDK integrations: the SDK for Java, version 2.
func sdkNaming(s *service) naming {
	return naming{s.Class, s.Class + "Exception", func(r *refusal) string {
		ids := "Request ID: " + r.request
		if r.host != "" {
			ids += ", Extended Request ID: " + r.host
		}
		message := cmp.Or(r.message, "null") // as Java writes a message that is not there
		return fmt.Sprintf("%s (Service: %s, Status Code: %d, %s) (SDK Attempt Count: 1)", message, s.Class, r.status,
			ids)
	}}
}

// optimizedNaming is that of optimized integrations: the SDK for Java, version 1, but for the young ones.
func optimizedNaming(o *Optimized, s *service) naming {
	if o.young() {
		n := sdkNaming(s)
		n.prefix, n.base = o.prefix, o.base
		return n
	}
	return naming{o.prefix, o.base, func(r *refusal) string {
		return fmt.Sprintf("%s (Service: %s; Status Code: %d; Error Code: %s; Request ID: %s; Proxy: null)",
			r.message, o.product, r.status, r.code, r.request)
	}}
}

// taskError is a call's failure as the state machine sees it. The operation may be nil when it was not found.
func (n *naming) taskError(o *operation, params jsonvalue.Value, parameters string, err error) error {
	var unusable *ParameterError
	if errors.As(err, &unusable) {
		return unusableParameters(parameters, unusable.Problems)
	}
	var unsupported *unsupportedError
	if errors.As(err, &unsupported) {
		return engine.NewFailure(engine.StatesRuntime, err.Error())
	}
	var missing *missingError
	if errors.As(err, &missing) {
		r, problems := o.service.incomplete(params, missing)
		if len(problems) > 0 {
			return unusableParameters(parameters, problems)
		}
		return engine.NewFailure(n.prefix+"."+n.base, n.cause(r))
	}
	if r := refused(o, err); r != nil {
		name := n.base
		if r.shape != "" {
			name = exceptionName(r.shape)
		}
		return engine.NewFailure(n.prefix+"."+name, n.cause(r))
	}
	return engine.NewFailure(n.prefix+".SdkClientException", "Unable to execute HTTP request: "+
		root(err))
}

func unusableParameters(parameters string, problems []string) error {
	return engine.NewFailure(engine.StatesRuntime, "The Parameters '"+parameters+
		"' could not be used to start the Task: ["+strings.Join(problems, ", ")+"]")
}

// refused reads an error of the service; nil when the failure is another one.
func refused(o *operation, err error) *refusal {
	var e *client.Error
	if !errors.As(err, &e) {
		return nil
	}
	return &refusal{
		shape: cmp.Or(o.service.translated[o.model.Name+":"+e.Code], e.Shape), code: e.Code, message: e.Message,
		status: e.Status, request: e.RequestID, host: e.HostID,
	}
}

// incomplete judges required members that a call lacks. One that the parameters set to null is the service's to refuse,
// as all that is missing further down; such a request is not sent, so the refusal is made here, as services word it.
func (s *service) incomplete(params jsonvalue.Value, missing *missingError) (r *refusal, problems []string) {
	r = &refusal{code: "ValidationException", status: 400, request: aws.NewID()}
	var nulls []string
	for _, member := range missing.members {
		if !strings.Contains(member, ".") && !given(params, member) {
			problems = append(problems, `The field "`+member+`" is required but was missing`)
			continue
		}
		nulls = append(nulls, "Value null at '"+lowerFirst(member)+
			"' failed to satisfy constraint: Member must not be null")
		if s.missing != nil {
			r.code, r.message = s.missing(member)
		}
	}
	if r.message == "" {
		r.message = counted(len(nulls)) + " detected: " + strings.Join(nulls, "; ")
	}
	return r, problems
}

// given reports whether parameters have a member, by the model's name or by Java's.
func given(params jsonvalue.Value, member string) bool {
	for _, key := range params.Keys() {
		if strings.EqualFold(key, member) || key == MemberName(member) {
			return true
		}
	}
	return false
}

func counted(n int) string {
	if n == 1 {
		return "1 validation error"
	}
	return strconv.Itoa(n) + " validation errors"
}

// root is the innermost error's text: what went wrong, without the SDK's account of the way there.
func root(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
