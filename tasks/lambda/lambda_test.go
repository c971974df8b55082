package lambda_test

import (
	"context"
	"errors"
	"testing"

	"stepback/aws"
	"stepback/engine"
	"stepback/tasks/lambda"
	"stepback/tasks/lambda/invocation"
)

// answers is an Invoker that always gives the same response.
type answers struct {
	answer invocation.Answer
	err    error
	call   *invocation.Request
}

func (a *answers) Invoke(_ context.Context, c *invocation.Request) (*invocation.Answer, error) {
	a.call = c
	return &a.answer, a.err
}

const parameters = `{"FunctionName":"f","Qualifier":"7","Payload":{"a":1.0}}`

func TestOptimizedInvoke(t *testing.T) {
	t.Parallel()
	i := &answers{answer: invocation.Answer{StatusCode: 200, Payload: []byte(`{"b": 2}`), RequestID: "r"}}
	out, err := lambda.Integration{Invoker: i}.Invoke(context.Background(), &engine.Task{State: "S", Attempt: 3,
		Parameters: parameters})
	want := `{"ExecutedVersion":"$LATEST","Payload":{"b":2},"SdkHttpMetadata":{"HttpStatusCode":200},"SdkResponseMetadata":{"RequestId":"r"},"StatusCode":200}`
	if err != nil || out.Text() != want {
		t.Errorf("%v, %v", out, err)
	}
	if c := i.call; c.FunctionName != "f" || c.Qualifier != "7" || string(c.Payload) != `{"a":1.0}` || c.State != "S" ||
		c.Attempt != 3 {
		t.Errorf("call %+v", c)
	}
}

func TestEventIsNotAnswered(t *testing.T) {
	t.Parallel()
	i := &answers{answer: invocation.Answer{StatusCode: 202, RequestID: "r"}}
	out, err := lambda.Integration{Invoker: i}.Invoke(t.Context(),
		&engine.Task{Parameters: `{"FunctionName":"f","InvocationType":"Event"}`})
	want := `{"ExecutedVersion":"$LATEST","SdkHttpMetadata":{"HttpStatusCode":202},"SdkResponseMetadata":{"RequestId":"r"},"StatusCode":202}`
	if err != nil || out.Text() != want || i.call.Type != "Event" {
		t.Errorf("%v, %v, call %+v", out, err, i.call)
	}
}

func TestLogIsHandedOn(t *testing.T) {
	t.Parallel()
	i := &answers{answer: invocation.Answer{StatusCode: 200, Payload: []byte("1"), LogTail: []byte("log")}}
	out, err := lambda.Integration{Invoker: i}.Invoke(t.Context(),
		&engine.Task{Parameters: `{"FunctionName":"f","LogType":"Tail","ClientContext":"e30="}`})
	if err != nil {
		t.Fatal(err)
	}
	if log, _ := out.Value().Get("LogResult"); log.Text() != "bG9n" || i.call.LogType != "Tail" ||
		string(i.call.ClientContext) != "{}" {
		t.Errorf("%s, call %+v", out.Text(), i.call)
	}
}

func TestPayloadBecomesTheEvent(t *testing.T) {
	t.Parallel()
	for payload, event := range map[string]string{
		`null`: `{}`, `"true"`: `true`, `"\"text\""`: `"text"`, `"{\"a\": 1}"`: `{"a": 1}`, `"no JSON"`: `"no JSON"`,
		`[1]`: `[1]`,
	} {
		i := &answers{answer: invocation.Answer{Payload: []byte(`1`)}}
		task := &engine.Task{Parameters: `{"FunctionName":"f","Payload":` + payload + `}`}
		if _, err := (lambda.Integration{Invoker: i}).Invoke(context.Background(), task); err != nil ||
			string(i.call.Payload) != event {
			t.Errorf("Payload %s: event %s, %v; want %s", payload, i.call.Payload, err, event)
		}
	}
}

func TestErrorsAreNamedAsTheServiceNamesThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers  answers
		function bool
		error    string
		cause    string
	}{
		"function error, compact": {
			answers: answers{answer: invocation.Answer{FunctionError: "Unhandled",
				Payload: []byte(`{"errorMessage": "m", "errorType": "Boom"}`)}},
			error: "Boom", cause: `{"errorMessage":"m","errorType":"Boom"}`,
		},
		"function error, byte for byte": {
			answers: answers{answer: invocation.Answer{FunctionError: "Unhandled",
				Payload: []byte(`{"errorMessage": "m", "errorType": "Boom"}`)}},
			function: true, error: "Boom", cause: `{"errorMessage": "m", "errorType": "Boom"}`,
		},
		"without a type": {
			answers: answers{answer: invocation.Answer{FunctionError: "Unhandled",
				Payload: []byte(`{"errorMessage":"m"}`)}},
			error: "Lambda.Unknown", cause: `{"errorMessage":"m"}`,
		},
		"throttled": {
			answers: answers{err: &aws.Error{Code: "TooManyRequestsException", Message: "Rate Exceeded.",
				Status: 429, RequestID: "r"}},
			error: "Lambda.TooManyRequestsException",
			cause: "Rate Exceeded. (Service: AWSLambda; Status Code: 429; Error Code: TooManyRequestsException; Request ID: r; Proxy: null)",
		},
		"transport": {
			answers: answers{err: errors.New("connection reset")},
			error:   "Lambda.SdkClientException", cause: "Unable to execute HTTP request: connection reset",
		},
		"not JSON": {
			answers: answers{answer: invocation.Answer{Payload: []byte("<html>")}},
			error:   "States.Runtime", cause: "The function f answered with something that is not JSON.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in engine.Integration = lambda.Integration{Invoker: &c.answers}
			if c.function {
				in = lambda.Function{Invoker: &c.answers}
			}
			_, err := in.Invoke(context.Background(), &engine.Task{Resource: "f", Parameters: parameters})
			var e *engine.Failure
			if !errors.As(err, &e) || e.Name != c.error || e.Cause != c.cause {
				t.Errorf("got %v, want %s: %s", err, c.error, c.cause)
			}
		})
	}
}

func TestUnusableParameters(t *testing.T) {
	t.Parallel()
	for parameters, want := range map[string]string{
		`{}`:                                    `The field "FunctionName" is required but was missing`,
		`{"FunctionName":null}`:                 `The field "FunctionName" is required but was missing`,
		`{"FunctionName":1}`:                    `The value for the field 'FunctionName' must be a STRING`,
		`{"FunctionName":"f","functionName":1}`: `The field "functionName" is not supported by Step Functions`,
		`{"FunctionName":"f","Body":1,"LogType":{}}`: `The field "Body" is not supported by Step Functions, ` +
			`The value for the field 'LogType' must be a STRING`,
	} {
		_, err := lambda.Integration{Invoker: &answers{}}.Invoke(t.Context(), &engine.Task{Parameters: parameters})
		full := "States.Runtime: The Parameters '" + parameters + "' could not be used to start the Task: [" + want +
			"]"
		if err == nil || err.Error() != full {
			t.Errorf("got  %v\nwant %s", err, full)
		}
	}
}

func TestDirectARNKeepsTheAnswer(t *testing.T) {
	t.Parallel()
	i := &answers{answer: invocation.Answer{Payload: []byte(`{"b": 2}`)}}
	out, err := lambda.Function{Invoker: i}.Invoke(context.Background(),
		&engine.Task{Resource: "arn:aws:lambda:r:a:function:f", Parameters: `{"x": 1}`})
	if err != nil || out.Text() != `{"b": 2}` || string(i.call.Payload) != `{"x": 1}` {
		t.Errorf("%v, %v", out, err)
	}
	i.answer.Payload = nil
	if out, err = (lambda.Function{Invoker: i}).Invoke(context.Background(),
		&engine.Task{Parameters: `{}`}); err != nil || out.Text() != "null" {
		t.Errorf("void: %v, %v", out, err)
	}
}
