// Package lambda performs the tasks that call Lambda functions: the optimized integration lambda:invoke, and
// Resources that are a function's ARN. Requests, results and errors have the form of Step Functions. The package
// runs no functions itself.
package lambda

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/tasks/lambda/invocation"
)

// Integration performs lambda:invoke.
type Integration struct{ Invoker invocation.Invoker }

// Invoke implements engine.Integration.
func (i Integration) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	if err := i.CheckParameters(t); err != nil {
		return nil, err
	}
	r, err := requestOf(t, params)
	if err != nil {
		return nil, invokeError(err)
	}
	a, err := i.Invoker.Invoke(ctx, r)
	if err != nil {
		return nil, invokeError(err)
	}
	payload, ok := parsed(a.Payload)
	if a.FunctionError != "" {
		return nil, functionError(payload, ok, a.Payload, payload.JSON())
	}
	if !ok {
		return nil, engine.NewFailure("States.Runtime", "The function "+r.FunctionName+
			" answered with something that is not JSON.")
	}
	return envelope(a, payload), nil
}

// requestOf returns the invocation that a task's parameters describe.
func requestOf(t *engine.Task, params jsonvalue.Value) (*invocation.Request, error) {
	r := &invocation.Request{
		State: t.State, Attempt: t.Attempt, RoleARN: t.RoleARN, Valid: true,
		FunctionName: text(params, "FunctionName"), Qualifier: text(params, "Qualifier"), Payload: []byte("{}"),
		Type: text(params, "InvocationType"), LogType: text(params, "LogType"),
	}
	if p, ok := params.Get("Payload"); ok {
		r.Payload = eventOf(p)
	}
	var err error
	if r.ClientContext, err = base64.StdEncoding.DecodeString(text(params, "ClientContext")); err != nil {
		return nil, &aws.Error{
			Code: "InvalidRequestContentException", Message: "The client context is not base64.",
			Status: http.StatusBadRequest, RequestID: aws.NewID(),
		}
	}
	return r, nil
}

// CheckParameters implements engine.ParameterChecker.
func (Integration) CheckParameters(t *engine.Task) error {
	params, err := t.Value()
	if err != nil {
		return err
	}
	if problems := unusable(params); len(problems) > 0 {
		return engine.NewFailure(engine.StatesRuntime, "The Parameters '"+t.Parameters+
			"' could not be used to start the Task: ["+strings.Join(problems, ", ")+"]")
	}
	return nil
}

// parameters lists the parameters of lambda:invoke. The value is true if the parameter is a string.
var parameters = map[string]bool{
	"ClientContext": true, "FunctionName": true, "InvocationType": true, "LogType": true, "Payload": false,
	"Qualifier": true,
}

// unusable returns the problems with the parameters, in the service's wording.
func unusable(params jsonvalue.Value) []string {
	var problems []string
	for i, name := range params.Keys() {
		text, known := parameters[name]
		switch kind := params.At(i).Kind(); {
		case !known:
			problems = append(problems, `The field "`+name+`" is not supported by Step Functions`)
		case text && kind != jsonvalue.String && kind != jsonvalue.Null:
			problems = append(problems, "The value for the field '"+name+"' must be a STRING")
		}
	}
	if function, _ := params.Get("FunctionName"); function.IsNull() {
		problems = append(problems, `The field "FunctionName" is required but was missing`)
	}
	return problems
}

func text(params jsonvalue.Value, name string) string {
	v, _ := params.Get(name)
	return v.Text()
}

// eventOf returns the event for a Payload parameter: null means no payload, and a string that is JSON text is sent
// unchanged.
func eventOf(payload jsonvalue.Value) []byte {
	switch payload.Kind() {
	case jsonvalue.Null:
		return []byte("{}")
	case jsonvalue.String:
		if _, err := jsonvalue.Parse(payload.Text()); err == nil {
			return []byte(payload.Text())
		}
	default:
	}
	return payload.JSONBytes()
}

// Function performs tasks whose Resource is a function's ARN. The state's payload is the event. The function's
// response is the result, byte for byte.
type Function struct{ Invoker invocation.Invoker }

// Invoke implements engine.Integration.
func (f Function) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	a, err := f.Invoker.Invoke(ctx, &invocation.Request{State: t.State, Attempt: t.Attempt, RoleARN: t.RoleARN,
		FunctionName: t.Resource, Payload: []byte(t.Parameters), Valid: true})
	if err != nil {
		return nil, invokeError(err)
	}
	payload, ok := parsed(a.Payload)
	if a.FunctionError != "" {
		return nil, functionError(payload, ok, a.Payload, string(a.Payload))
	}
	if !ok {
		return nil, engine.NewFailure("States.Runtime", "The function "+t.Resource+
			" answered with something that is not JSON.")
	}
	if len(a.Payload) == 0 {
		return engine.ParsedResult("null", payload), nil
	}
	return engine.ParsedResult(string(a.Payload), payload), nil
}

func parsed(payload []byte) (jsonvalue.Value, bool) {
	if len(payload) == 0 {
		return jsonvalue.Value{}, true
	}
	v, err := jsonvalue.Parse(string(payload))
	return v, err == nil
}

// functionError returns the task's error for an error that the function reported.
func functionError(payload jsonvalue.Value, ok bool, raw []byte, cause string) error {
	if !ok {
		return engine.NewFailure("Lambda.Unknown", string(raw))
	}
	name := "Lambda.Unknown"
	if v, has := payload.Get("errorType"); has && v.Text() != "" {
		name = v.Text()
	}
	return engine.NewFailure(name, cause)
}

// invokeError returns the task's error for an error of the Invoke operation, named as in Step Functions.
func invokeError(err error) error {
	var api *aws.Error
	if !errors.As(err, &api) {
		return engine.NewFailure("Lambda.SdkClientException", "Unable to execute HTTP request: "+
			err.Error())
	}
	name := strings.TrimPrefix(api.Code, "Lambda.")
	if name == "AccessDeniedException" { // not in Lambda's model, so the SDK has no name for it
		name = "AWSLambdaException"
	}
	return engine.NewFailure("Lambda."+name,
		api.Message+" (Service: AWSLambda; Status Code: "+strconv.Itoa(api.Status)+"; Error Code: "+api.Code+
			"; Request ID: "+api.RequestID+"; Proxy: null)")
}

var (
	okStatus   = jsonvalue.OfInt(http.StatusOK)
	okMetadata = object("HttpStatusCode", okStatus)
)

// envelope returns the result of lambda:invoke: the response with the metadata that the service adds.
func envelope(a *invocation.Answer, payload jsonvalue.Value) engine.Result {
	status := okStatus
	if a.StatusCode != http.StatusOK && a.StatusCode != 0 {
		status = jsonvalue.OfInt(int64(a.StatusCode))
	}
	const members = 6
	b := jsonvalue.NewObject(members)
	b.Set("ExecutedVersion", jsonvalue.OfString(cmp.Or(a.ExecutedVersion, "$LATEST")))
	if len(a.LogTail) > 0 {
		b.Set("LogResult", jsonvalue.OfString(base64.StdEncoding.EncodeToString(a.LogTail)))
	}
	if a.StatusCode != http.StatusAccepted && a.StatusCode != http.StatusNoContent { // an event has no response
		b.Set("Payload", payload)
	}
	metadata := okMetadata
	if status != okStatus {
		metadata = object("HttpStatusCode", status)
	}
	b.Set("SdkHttpMetadata", metadata)
	b.Set("SdkResponseMetadata", object("RequestId", jsonvalue.OfString(a.RequestID)))
	b.Set("StatusCode", status)
	v := b.Value()
	return engine.ParsedResult(v.JSON(), v)
}

func object(key string, member jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(1)
	b.Set(key, member)
	return b.Value()
}
