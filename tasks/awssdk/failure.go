package awssdk

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"stepback/asl/jsonvalue"
	"stepback/aws"
	"stepback/engine"
	"stepback/engine/plan"
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
func sdkNaming(s *Service) naming {
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
func optimizedNaming(o *Optimized) naming {
	if o.young() {
		n := sdkNaming(o.service)
		n.prefix, n.base = o.prefix, o.base
		return n
	}
	return naming{o.prefix, o.base, func(r *refusal) string {
		return fmt.Sprintf("%s (Service: %s; Status Code: %d; Error Code: %s; Request ID: %s; Proxy: null)",
			r.message, o.product, r.status, r.code, r.request)
	}}
}

// taskError is a call's failure as the state machine sees it.
func (n *naming) taskError(s *Service, params jsonvalue.Value, parameters string, err error) error {
	var unusable *ParameterError
	if errors.As(err, &unusable) {
		return unusableParameters(parameters, unusable.Problems)
	}
	if isUnsupported(err) {
		return &engine.TaskError{Name: plan.ErrRuntime, Cause: err.Error()}
	}
	var missing smithy.InvalidParamsError
	if errors.As(err, &missing) {
		r, problems := s.incomplete(params, &missing)
		if len(problems) > 0 {
			return unusableParameters(parameters, problems)
		}
		return &engine.TaskError{Name: n.prefix + "." + n.base, Cause: n.cause(r)}
	}
	if r := refused(s, err); r != nil {
		name := n.base
		if r.shape != "" {
			name = exceptionName(r.shape)
		}
		return &engine.TaskError{Name: n.prefix + "." + name, Cause: n.cause(r)}
	}
	return &engine.TaskError{Name: n.prefix + ".SdkClientException", Cause: "Unable to execute HTTP request: " +
		root(err)}
}

func unusableParameters(parameters string, problems []string) error {
	return &engine.TaskError{Name: plan.ErrRuntime, Cause: "The Parameters '" + parameters +
		"' could not be used to start the Task: [" + strings.Join(problems, ", ") + "]"}
}

// refused reads an error of the service; nil when the failure is another one.
func refused(s *Service, err error) *refusal {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return nil
	}
	r := &refusal{code: api.ErrorCode(), message: api.ErrorMessage()}
	var generic *smithy.GenericAPIError
	switch {
	case !errors.As(err, &generic):
		r.shape = reflect.Indirect(reflect.ValueOf(api)).Type().Name()
	case slices.Contains(s.modeled, r.code):
		r.shape = r.code
	}
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		r.shape = cmp.Or(s.translated[operation.OperationName+":"+r.code], r.shape)
	}
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		r.status, r.request = response.HTTPStatusCode(), response.RequestID
	}
	var hosted interface{ ServiceHostID() string }
	if errors.As(err, &hosted) {
		r.host = hosted.ServiceHostID()
	}
	return r
}

// incomplete judges required members that a call lacks. One that the parameters set to null is the service's to refuse;
// the SDK for Go does not send such a request, so the refusal is made here, as services word it.
func (s *Service) incomplete(params jsonvalue.Value, missing *smithy.InvalidParamsError) (r *refusal,
	problems []string) {
	r = &refusal{code: "ValidationException", status: 400, request: aws.NewID()}
	var nulls []string
	for _, e := range missing.Errs() {
		var p smithy.InvalidParamError
		if !errors.As(e, &p) {
			continue
		}
		_, member, _ := strings.Cut(p.Field(), ".")
		v, given := params.Get(member)
		if !given && !strings.ContainsAny(member, ".[") || given && !v.IsNull() {
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
