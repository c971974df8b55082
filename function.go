package stepback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
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
// An error fails the task. Retriers and catchers see the name that Config.ErrorName gives it, or else ErrorName. Errorf
// makes an error with a name. The cause is the JSON text of an object with errorMessage and errorType, as Lambda's is.
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

// invoker carries out invocations with the functions of an engine. It implements invocation.Invoker.
type invoker struct {
	functions Functions
	errorName func(error) string
}

// functionName returns the function's name. function is an ARN, a part of an ARN or a name, each with or without a
// qualifier.
func functionName(function string) string {
	if _, name, ok := strings.Cut(function, ":function:"); ok {
		function = name
	}
	name, _, _ := strings.Cut(function, ":")
	return name
}

// Invoke implements invocation.Invoker.
func (i invoker) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	name := functionName(r.FunctionName)
	do := i.functions[name]
	if do == nil {
		known := "This engine has no functions"
		if len(i.functions) > 0 {
			known = "The functions of this engine are: " + strings.Join(slices.Sorted(maps.Keys(i.functions)), ", ")
		}
		return nil, &aws.Error{Status: http.StatusNotFound, Code: "ResourceNotFoundException",
			Message: fmt.Sprintf("Function not found: %s. %s", name, known)}
	}
	out, err := do(ctx, r.Payload)
	if err == nil {
		return &invocation.Answer{StatusCode: http.StatusOK, Payload: out, ExecutedVersion: "$LATEST"}, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	described, marshalErr := json.Marshal(i.thrown(err))
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

// thrown describes a function's error. A *Failure that is not wrapped in another named error gives its cause as the
// message.
func (i invoker) thrown(err error) thrown {
	t := thrown{Message: err.Error(), Type: i.errorName(err)}
	var f *Failure
	if errors.As(err, &f) && f.Name == t.Type {
		t.Message = f.Cause
	}
	return t
}
