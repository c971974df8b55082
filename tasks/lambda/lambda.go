// Package lambda carries out the tasks that call Lambda functions: the optimized integration lambda:invoke and
// Resources that are the ARN of a function. It shapes requests, results and errors as Step Functions does; it runs no
// function itself.
package lambda

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"stepback/asl/jsonvalue"
	"stepback/aws"
	"stepback/engine"
)

// Call is one invocation of a function.
type Call struct {
	// State and Attempt say which run of which state this is; an invoker that injects faults goes by them.
	State   string
	Attempt int64
	// Function is a name or an ARN, Qualifier a version or alias.
	Function, Qualifier string
	// RoleARN is the role of the task's Credentials, in whose account a function without an ARN is looked for; empty
	// for that of the execution.
	RoleARN string
	// Payload is the event's JSON text.
	Payload []byte
	// InvocationType is RequestResponse, Event or DryRun; empty means the first. LogType "Tail" asks for the end of the
	// log, ClientContext is handed to the function, in Base64.
	InvocationType, LogType, ClientContext string
}

// Answer is what the function answered.
type Answer struct {
	StatusCode      int
	FunctionError   string // "Unhandled" when the payload describes an error
	Payload         []byte // JSON text; empty means null
	ExecutedVersion string
	RequestID       string
	LogResult       string // Base64
}

// Invoker runs functions. An error that is an *aws.Error is one of the Lambda API.
type Invoker interface {
	Invoke(ctx context.Context, c *Call) (*Answer, error)
}

// Integration carries out lambda:invoke.
type Integration struct{ Invoker Invoker }

// Invoke implements engine.Integration.
func (i Integration) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	if err := i.CheckParameters(t); err != nil {
		return nil, err
	}
	c := &Call{State: t.State, Attempt: t.Attempt, RoleARN: t.RoleARN, Function: text(params, "FunctionName"),
		Payload: []byte("{}")}
	c.Qualifier, c.InvocationType = text(params, "Qualifier"), text(params, "InvocationType")
	c.LogType, c.ClientContext = text(params, "LogType"), text(params, "ClientContext")
	if p, ok := params.Get("Payload"); ok {
		c.Payload = eventOf(p)
	}
	a, err := i.Invoker.Invoke(ctx, c)
	if err != nil {
		return nil, invokeError(err)
	}
	payload, ok := parsed(a.Payload)
	if a.FunctionError != "" {
		return nil, functionError(payload, ok, a.Payload, payload.JSON())
	}
	if !ok {
		return nil, engine.NewFailure("States.Runtime", "The function "+c.Function+
			" answered with something that is not JSON.")
	}
	return envelope(a, payload), nil
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

// parameters are those of lambda:invoke, and whether they are strings.
var parameters = map[string]bool{
	"ClientContext": true, "FunctionName": true, "InvocationType": true, "LogType": true, "Payload": false,
	"Qualifier": true,
}

// unusable says why parameters cannot be used, in the words of the service.
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

// eventOf is the event that a Payload parameter makes: null stands for no payload at all, and a string that is JSON
// text is sent as it is.
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
	return []byte(payload.JSON())
}

// Function carries out tasks whose Resource is a function's ARN: the state's payload is the event, and the function's
// answer is the result, byte for byte.
type Function struct{ Invoker Invoker }

// Invoke implements engine.Integration.
func (f Function) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	a, err := f.Invoker.Invoke(ctx, &Call{State: t.State, Attempt: t.Attempt, RoleARN: t.RoleARN, Function: t.Resource,
		Payload: []byte(t.Parameters)})
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

// functionError names the error that a function reported.
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

// invokeError names an error of the Invoke operation as Step Functions does.
func invokeError(err error) error {
	var api *aws.Error
	if !errors.As(err, &api) {
		return engine.NewFailure("Lambda.SdkClientException", "Unable to execute HTTP request: "+
			err.Error())
	}
	return engine.NewFailure("Lambda."+strings.TrimPrefix(api.Code, "Lambda."),
		api.Message+" (Service: AWSLambda; Status Code: "+strconv.Itoa(api.Status)+"; Error Code: "+api.Code+
			"; Request ID: "+api.RequestID+"; Proxy: null)")
}

var (
	okStatus   = jsonvalue.OfInt(http.StatusOK)
	okMetadata = object("HttpStatusCode", okStatus)
)

// envelope is the result of lambda:invoke: the answer with the metadata that the service adds.
func envelope(a *Answer, payload jsonvalue.Value) engine.Result {
	status := okStatus
	if a.StatusCode != http.StatusOK && a.StatusCode != 0 {
		status = jsonvalue.OfInt(int64(a.StatusCode))
	}
	const members = 6
	b := jsonvalue.NewObject(members)
	b.Set("ExecutedVersion", jsonvalue.OfString(cmp.Or(a.ExecutedVersion, "$LATEST")))
	if a.LogResult != "" {
		b.Set("LogResult", jsonvalue.OfString(a.LogResult))
	}
	if a.StatusCode != http.StatusAccepted && a.StatusCode != http.StatusNoContent { // an event is not answered
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
