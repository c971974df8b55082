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
	"stepback/tasks/awssdk/responses"
)

// refusal is an error returned by a service.
type refusal struct {
	// shape is the name of the error's shape; empty if the service's model does not contain it.
	shape         string
	code, message string
	status        int
	request, host string // request IDs; S3 has two
}

// naming determines how an integration names errors and words their causes.
type naming struct {
	prefix string // prefix of all error names
	base   string // name of errors that are not in the model
	cause  func(*refusal) string
}

// naming determines the names and the causes of an integration's errors.
func sdkNaming(s *service) naming {
	return naming{s.Class, s.Class + "Exception", func(r *refusal) string {
		message := cmp.Or(r.message, "null") // as Java prints a missing message
		if s.Class == "S3" {                 // whose client words its own errors, as recorded
			return fmt.Sprintf("%s (Service: S3, Status Code: %d, Request ID: %s, Extended Request ID: %s)", message,
				r.status, r.request, cmp.Or(r.host, "null"))
		}
		return fmt.Sprintf("%s (Service: %s, Status Code: %d, Request ID: %s) (SDK Attempt Count: 1)", message, s.Class,
			r.status, r.request)
	}}
}

// optimizedNaming returns the naming of optimized integrations, which follow the SDK for Java 1.x, except for newer
// integrations.
func optimizedNaming(o *Optimized, s *service) naming {
	if o.usesSDKv2() {
		n := sdkNaming(s)
		n.prefix, n.base = o.prefix, o.base
		return n
	}
	return naming{o.prefix, o.base, func(r *refusal) string {
		return fmt.Sprintf("%s (Service: %s; Status Code: %d; Error Code: %s; Request ID: %s; Proxy: null)",
			r.message, o.product, r.status, r.code, r.request)
	}}
}

// taskError returns the error of a failed call in the form that the state machine receives. The operation may be
// nil if it was not found.
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

// refused returns the service's error, or nil if the call failed for another reason.
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

// incomplete handles required members that a call lacks. If the parameters set such a member to null, or if it is
// missing at a deeper level, the service would reject the request. Because such a request is not sent, the service's
// error is built here in its usual wording.
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

// given reports whether the parameters contain a member, under the model's name or Java's.
func given(params jsonvalue.Value, member string) bool {
	for _, key := range params.Keys() {
		if strings.EqualFold(key, member) || key == responses.MemberName(member) {
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

// root returns the text of the innermost error: what went wrong, without the SDK's wrapping.
func root(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
