package stepback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// Function carries out the tasks that call a Lambda function: it takes the event as JSON text and returns JSON text.
// Func converts a Go function with its own types.
type Function func(ctx context.Context, event []byte) ([]byte, error)

// Functions are the functions of an engine, by name. A definition calls the function charge by the Resource
// arn:aws:lambda:REGION:ACCOUNT:function:charge, with any region and account, or by arn:aws:states:::lambda:invoke with
// a FunctionName of charge or that ARN. So the same definition runs on AWS.
type Functions map[string]Function

// Func converts a Go function to a Function. The event is decoded into In, and the result is encoded as JSON.
//
// An error fails the task. Retriers and catchers see the name of a *Failure or, as with Go functions on AWS, the name
// of the error's type, such as errorString for errors.New. The cause is the JSON text of an object with errorMessage
// and errorType.
func Func[In, Out any](f func(ctx context.Context, in In) (Out, error)) Function {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var in In
		if err := json.Unmarshal(event, &in); err != nil {
			return nil, &Failure{Name: "Runtime.UnmarshalError", Cause: err.Error()}
		}
		out, err := f(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// Invoke implements invocation.Invoker.
func (f Functions) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	name := r.FunctionName
	if strings.HasPrefix(name, "arn:") {
		const before = 6 // arn:partition:lambda:region:account:function
		if parts := strings.Split(name, ":"); len(parts) > before {
			name = parts[before]
		}
	}
	do := f[name]
	if do == nil {
		return nil, &aws.Error{Status: http.StatusNotFound, Code: "ResourceNotFoundException", Message: fmt.Sprintf(
			"Function not found: %s. The functions of this engine are: %s", name,
			strings.Join(slices.Sorted(maps.Keys(f)), ", "))}
	}
	out, err := do(ctx, r.Payload)
	if err == nil {
		return &invocation.Answer{StatusCode: http.StatusOK, Payload: out, ExecutedVersion: "$LATEST"}, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	described, marshalErr := json.Marshal(thrownOf(err))
	if marshalErr != nil {
		return nil, marshalErr
	}
	return &invocation.Answer{StatusCode: http.StatusOK, FunctionError: invocation.Unhandled, Payload: described}, nil
}

// thrown is a function's error in Lambda's form.
type thrown struct {
	Message string `json:"errorMessage"`
	Type    string `json:"errorType"`
}

func thrownOf(err error) thrown {
	var f *Failure
	if errors.As(err, &f) {
		return thrown{Message: f.Cause, Type: f.Name}
	}
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return thrown{Message: err.Error(), Type: t.Name()}
}
