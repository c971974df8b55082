package resource

import (
	"context"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stepback/internal/lazyregexp"
)

// restAPIs returns the types of API Gateway's REST APIs that proxy requests to functions, HTTP servers and state
// machines. An HTTP API serves them, with events in the payload format 1.0, which is that of REST APIs. What HTTP APIs
// do not have (mapping templates in general, MOCK, models, API keys, usage plans, request validators) is rejected by
// name.
func restAPIs() []*Type {
	return []*Type{{
		Name: "AWS::ApiGateway::RestApi",
		Properties: properties(`ApiKeySourceType BinaryMediaTypes Body BodyS3Location CloneFrom Description DisableExecuteApiEndpoint
			EndpointConfiguration FailOnWarnings MinimumCompressionSize Mode Name Parameters Policy Tags`),
		Create: createREST, Update: updateREST, Delete: deleteOf("DeleteApi", "ApiId"),
	}, {
		Name: "AWS::ApiGateway::Resource", Identifier: []string{"RestApiId", "ResourceId"},
		Properties: properties("ParentId*! PathPart*! RestApiId*!"),
		Create:     createPath, Delete: nothing,
	}, {
		Name: "AWS::ApiGateway::Method",
		Properties: properties(`ApiKeyRequired AuthorizationScopes AuthorizationType AuthorizerId HttpMethod*! Integration MethodResponses
			OperationName RequestModels RequestParameters RequestValidatorId ResourceId*! RestApiId*!`),
		Create: createMethod, Update: updateMethod, Delete: deleteMethod,
	}, {
		Name: "AWS::ApiGateway::Deployment", Identifier: []string{"DeploymentId", "RestApiId"},
		Properties: properties("DeploymentCanarySettings Description RestApiId*! StageDescription StageName!"),
		Create:     createRESTDeployment, Update: updateRESTDeployment, Delete: deleteRESTPart("DeleteDeployment", "DeploymentId"),
	}, {
		Name: "AWS::ApiGateway::Stage", Identifier: []string{"RestApiId", "StageName"},
		Properties: properties(`AccessLogSetting CacheClusterEnabled CacheClusterSize CanarySetting ClientCertificateId DeploymentId
			Description DocumentationVersion MethodSettings RestApiId*! StageName*= Tags TracingEnabled Variables`),
		Create: restStage(createStage), Update: restStage(updateStage), Delete: deleteRESTPart("DeleteStage", "StageName"),
	}, {
		Name:       "AWS::ApiGateway::Account",
		Properties: properties("CloudWatchRoleArn"),
		Create:     sameAccount, Update: sameAccount, Delete: nothing,
	}}
}

func nothing(context.Context, *Request) error { return nil }

// sameAccount returns the account's settings. The role for logs is not needed here: access logs are written without
// one.
func sameAccount(_ context.Context, r *Request) (State, error) {
	return State{ID: "apigateway-" + r.Scope.Account}, nil
}

// notServed rejects properties with a value that REST APIs do not support here.
func notServed(given map[string]any, names string) error {
	var problems []string
	for _, name := range strings.Fields(names) {
		switch v := given[name].(type) {
		case nil:
		case bool:
			if v {
				problems = append(problems, fmt.Sprintf("#/%s: not served for REST APIs here; leave it out", name))
			}
		case map[string]any:
			if len(v) > 0 {
				problems = append(problems, fmt.Sprintf("#/%s: not served for REST APIs here; leave it out", name))
			}
		default:
			if text, ok := v.(string); !ok || text != "false" {
				problems = append(problems, fmt.Sprintf("#/%s: not served for REST APIs here; leave it out", name))
			}
		}
	}
	if problems != nil {
		return &PropertyError{Problems: problems}
	}
	return nil
}

// as returns the request with the properties of a type of HTTP APIs.
func (r *Request) as(now, before map[string]any) *Request {
	changed := *r
	changed.Properties, changed.Previous = now, before
	return &changed
}

// httpAPI returns the properties of the HTTP API that serves a REST API.
func httpAPI(p map[string]any) map[string]any {
	if p == nil {
		return nil
	}
	to := pick(p, "Description DisableExecuteApiEndpoint Name Tags")
	to["ProtocolType"] = "HTTP"
	return to
}

const restRejected = "Body BodyS3Location CloneFrom MinimumCompressionSize Policy Parameters BinaryMediaTypes"

func createREST(ctx context.Context, r *Request) (State, error) {
	if err := notServed(r.Properties, restRejected); err != nil {
		return State{}, err
	}
	s, err := createAPI(ctx, r.as(httpAPI(r.Properties), nil))
	return restState(s), err
}

func updateREST(ctx context.Context, r *Request) (State, error) {
	if err := notServed(r.Properties, restRejected); err != nil {
		return State{}, err
	}
	s, err := updateAPI(ctx, r.as(httpAPI(r.Properties), httpAPI(r.Previous)))
	return restState(s), err
}

func restState(s State) State {
	if s.ID != "" {
		s.Attributes = map[string]any{"RestApiId": s.ID, "RootResourceId": idOfPath("/")}
	}
	return s
}

// idOfPath returns the ID of the resource at a path. HTTP APIs have no resources, so the ID is the path itself, in the
// characters of IDs.
func idOfPath(path string) string {
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(path)))
}

// pathOfID is the inverse of idOfPath.
func pathOfID(id string) (string, error) {
	path, err := base32.HexEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(id))
	if err != nil || !strings.HasPrefix(string(path), "/") {
		return "", &HandlerError{Code: "NotFound", Message: "Invalid Resource identifier specified: " + id}
	}
	return string(path), nil
}

func createPath(_ context.Context, r *Request) (State, error) {
	parent, err := pathOfID(r.text("ParentId"))
	if err != nil {
		return State{}, err
	}
	part := r.text("PathPart")
	if part == "" || strings.Contains(part, "/") {
		return State{}, &PropertyError{Problems: []string{"#/PathPart: a part of a path without slashes is needed"}}
	}
	id := idOfPath(strings.TrimSuffix(parent, "/") + "/" + part)
	return State{ID: id, Attributes: map[string]any{"ResourceId": id}}, nil
}

const methodRejected = "ApiKeyRequired AuthorizerId AuthorizationScopes RequestModels RequestValidatorId"

// method returns the integration and the route that serve a method.
func method(p map[string]any) (integration, route map[string]any, err error) {
	if err := notServed(p, methodRejected); err != nil {
		return nil, nil, err
	}
	path, err := pathOfID(textOf(p, "ResourceId"))
	if err != nil {
		return nil, nil, err
	}
	given := object(p, "Integration")
	problem := func(format string, args ...any) error {
		return &PropertyError{Problems: []string{"#/Integration/" + fmt.Sprintf(format, args...)}}
	}
	integration = pick(given, "Credentials=CredentialsArn TimeoutInMillis")
	integration["ApiId"], integration["PayloadFormatVersion"] = textOf(p, "RestApiId"), "1.0"
	switch kind := textOf(given, "Type"); kind {
	case "AWS_PROXY":
		integration["IntegrationType"], integration["IntegrationMethod"] = kind, "POST"
		integration["IntegrationUri"] = textOf(given, "Uri")
	case "HTTP_PROXY":
		integration["IntegrationType"], integration["IntegrationMethod"] = kind, textOf(given, "IntegrationHttpMethod")
		integration["IntegrationUri"] = textOf(given, "Uri")
	case "AWS":
		if err := startExecution(given, integration); err != nil {
			return nil, nil, err
		}
	default:
		return nil, nil, problem("Type: %s integrations of REST APIs are not served here; AWS_PROXY, HTTP_PROXY, and AWS for "+
			"StartExecution and StartSyncExecution of Step Functions are", kind)
	}
	if kind := textOf(given, "ConnectionType"); kind != "" && kind != "INTERNET" {
		return nil, nil, problem("ConnectionType: VPC links are not served here; use INTERNET")
	}
	route = map[string]any{"ApiId": textOf(p, "RestApiId"), "RouteKey": textOf(p, "HttpMethod") + " " + path}
	set(route, "AuthorizationType", textOf(p, "AuthorizationType"))
	set(route, "OperationName", textOf(p, "OperationName"))
	return integration, route, nil
}

// action matches the URI of an action of Step Functions.
var action = lazyregexp.New(`^arn:aws[a-z-]*:apigateway:[a-z0-9-]+:states:action/(StartExecution|StartSyncExecution)$`)

// wholeBody lists the expressions of mapping templates that stand for the request's body as a text in JSON.
var wholeBody = []string{`$util.escapeJavaScript($input.json('$'))`, `$util.escapeJavaScript($input.json("$"))`,
	`$util.escapeJavaScript($input.body)`}

// startExecution makes an AWS integration with Step Functions one of HTTP APIs. Its mapping template may pass the
// request's body as the input, and nothing else of the request.
func startExecution(given, integration map[string]any) error {
	rejected := func(member, why string) error {
		return &PropertyError{Problems: []string{"#/Integration/" + member + ": " + why}}
	}
	m := action.FindStringSubmatch(textOf(given, "Uri"))
	if m == nil {
		return rejected("Uri", "AWS integrations of REST APIs are served here for StartExecution and StartSyncExecution of Step "+
			"Functions (arn:aws:apigateway:REGION:states:action/StartExecution)")
	}
	const passes = "a mapping template is served here if it is a JSON object with stateMachineArn and, as input, " +
		"\"$util.escapeJavaScript($input.json('$'))\""
	templates := object(given, "RequestTemplates")
	text := textOf(templates, "application/json")
	var call map[string]string
	if len(templates) != 1 || json.Unmarshal([]byte(text), &call) != nil || call["stateMachineArn"] == "" ||
		strings.Contains(call["stateMachineArn"], "$") || len(call) > 2 {
		return rejected("RequestTemplates", passes)
	}
	parameters := map[string]any{"StateMachineArn": call["stateMachineArn"]}
	if input, ok := call["input"]; ok {
		if !slices.Contains(wholeBody, input) {
			return rejected("RequestTemplates", passes)
		}
		parameters["Input"] = "$request.body"
	} else if len(call) > 1 {
		return rejected("RequestTemplates", passes)
	}
	for _, r := range list(given, "IntegrationResponses") {
		one, _ := r.(map[string]any)
		for name, template := range object(one, "ResponseTemplates") {
			if template != "" {
				return rejected("IntegrationResponses", "the response template for "+name+" is not served here; leave it out, and "+
					"the answer of Step Functions is passed on")
			}
		}
	}
	integration["IntegrationType"], integration["IntegrationSubtype"] = "AWS_PROXY", "StepFunctions-"+m[1]
	integration["RequestParameters"] = parameters
	return nil
}

// partsOf splits the physical ID of a method into the IDs of its route and its integration.
func partsOf(id string) (route, integration string) {
	route, integration, _ = strings.Cut(id, "-")
	return route, integration
}

func createMethod(ctx context.Context, r *Request) (State, error) {
	integration, route, err := method(r.Properties)
	if err != nil {
		return State{}, err
	}
	var made struct {
		ID string `json:"IntegrationId"`
	}
	if err := r.Call(ctx, gateway, "CreateIntegration", integration, &made); err != nil {
		return State{}, err
	}
	route["Target"] = "integrations/" + made.ID
	of, err := createRoute(ctx, r.as(route, nil))
	if err == nil && of.ID != "" && r.Again { // an earlier attempt may have created the route with another integration
		route["RouteId"] = of.ID
		err = r.Call(ctx, gateway, "UpdateRoute", route, nil)
	}
	if err != nil {
		return State{}, err
	}
	return State{ID: of.ID + "-" + made.ID}, nil
}

func updateMethod(ctx context.Context, r *Request) (State, error) {
	integration, route, err := method(r.Properties)
	if err != nil {
		return State{}, err
	}
	// The kind of an integration cannot be changed, so the route gets a new one.
	var made struct {
		ID string `json:"IntegrationId"`
	}
	if err := r.Call(ctx, gateway, "CreateIntegration", integration, &made); err != nil {
		return State{}, err
	}
	routeID, old := partsOf(r.ID)
	route["RouteId"], route["Target"] = routeID, "integrations/"+made.ID
	if err := r.Call(ctx, gateway, "UpdateRoute", route, nil); err != nil {
		return State{}, err
	}
	err = r.Call(ctx, gateway, "DeleteIntegration", map[string]any{"ApiId": r.text("RestApiId"), "IntegrationId": old}, nil)
	return State{ID: routeID + "-" + made.ID}, ignoreAbsent(err)
}

func deleteMethod(ctx context.Context, r *Request) error {
	route, integration := partsOf(r.ID)
	if err := ignoreAbsent(r.Call(ctx, gateway, "DeleteRoute",
		map[string]any{"ApiId": r.text("RestApiId"), "RouteId": route}, nil)); err != nil {
		return err
	}
	return ignoreAbsent(r.Call(ctx, gateway, "DeleteIntegration",
		map[string]any{"ApiId": r.text("RestApiId"), "IntegrationId": integration}, nil))
}

func deleteRESTPart(operation, id string) func(context.Context, *Request) error {
	return func(ctx context.Context, r *Request) error {
		return ignoreAbsent(r.Call(ctx, gateway, operation, map[string]any{"ApiId": r.text("RestApiId"), id: r.ID}, nil))
	}
}

// createRESTDeployment creates a deployment, and the stage that it names.
func createRESTDeployment(ctx context.Context, r *Request) (State, error) {
	if err := notServed(r.Properties, "DeploymentCanarySettings StageDescription"); err != nil {
		return State{}, err
	}
	in := pick(r.Properties, "RestApiId=ApiId Description StageName")
	if name := r.text("StageName"); name != "" {
		err := r.Call(ctx, gateway, "CreateStage", pick(in, "ApiId StageName"), nil)
		if err != nil && !exists(err) {
			return State{}, err
		}
	}
	var out struct {
		ID string `json:"DeploymentId"`
	}
	err := r.Call(ctx, gateway, "CreateDeployment", in, &out)
	return State{ID: out.ID, Attributes: map[string]any{"DeploymentId": out.ID}}, err
}

func updateRESTDeployment(ctx context.Context, r *Request) (State, error) {
	if err := notServed(r.Properties, "DeploymentCanarySettings StageDescription"); err != nil {
		return State{}, err
	}
	in := pick(r.Properties, "RestApiId=ApiId Description")
	in["DeploymentId"] = r.ID
	return State{ID: r.ID, Attributes: map[string]any{"DeploymentId": r.ID}}, r.Call(ctx, gateway, "UpdateDeployment", in, nil)
}

// restStage makes a function for stages of HTTP APIs one for stages of REST APIs.
func restStage(do func(context.Context, *Request) (State, error)) func(context.Context, *Request) (State, error) {
	return func(ctx context.Context, r *Request) (State, error) {
		if err := notServed(r.Properties, `CacheClusterEnabled CacheClusterSize CanarySetting ClientCertificateId
			DocumentationVersion MethodSettings TracingEnabled`); err != nil {
			return State{}, err
		}
		of := func(p map[string]any) map[string]any {
			if p == nil {
				return nil
			}
			return pick(p, `RestApiId=ApiId StageName DeploymentId Description Variables=StageVariables
				AccessLogSetting=AccessLogSettings Tags`)
		}
		return do(ctx, r.as(of(r.Properties), of(r.Previous)))
	}
}
