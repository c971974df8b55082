package resource

import (
	"context"
	"strings"
)

// gateways returns the types of API Gateway's HTTP APIs.
func gateways() []*Type {
	return []*Type{{
		Name: "AWS::ApiGatewayV2::Api",
		Properties: properties(
			`ApiKeySelectionExpression CorsConfiguration CredentialsArn~ Description DisableSchemaValidation
			DisableExecuteApiEndpoint IpAddressType Name ProtocolType! RouteKey~ RouteSelectionExpression Tags Target~ Version`,
		),
		Create: createAPI, Update: updateAPI, Read: readGateway("GetApi", ""), List: listAPIs,
		Delete: deleteOf("DeleteApi", "ApiId"),
	}, {
		Name: "AWS::ApiGatewayV2::Integration", Identifier: []string{"ApiId", "IntegrationId"},
		Properties: properties(`ApiId*! ConnectionId ConnectionType ContentHandlingStrategy CredentialsArn Description
			IntegrationMethod IntegrationSubtype! IntegrationType* IntegrationUri PassthroughBehavior
			PayloadFormatVersion
			RequestParameters RequestTemplates ResponseParameters~ TemplateSelectionExpression TimeoutInMillis TlsConfig`),
		Create: createPart(
			"CreateIntegration",
			"IntegrationId",
		), Update: updatePart("UpdateIntegration", "IntegrationId"),
		Read: readGateway("GetIntegration", "IntegrationId"), Delete: deletePart("DeleteIntegration", "IntegrationId"),
	}, {
		Name: "AWS::ApiGatewayV2::Route", Identifier: []string{"ApiId", "RouteId"},
		Properties: properties(`ApiId*! ApiKeyRequired AuthorizationScopes AuthorizationType AuthorizerId
			ModelSelectionExpression OperationName RequestModels RequestParameters RouteKey* RouteResponseSelectionExpression Target`),
		Create: createRoute, Update: updatePart("UpdateRoute", "RouteId"),
		Read: readGateway("GetRoute", "RouteId"), Delete: deletePart("DeleteRoute", "RouteId"),
	}, {
		Name: "AWS::ApiGatewayV2::Stage", Identifier: []string{"ApiId", "StageName"},
		Properties: properties(
			`ApiId*! AccessLogSettings AccessPolicyId AutoDeploy ClientCertificateId DefaultRouteSettings
			DeploymentId Description RouteSettings StageName*= StageVariables Tags`,
		),
		Create: createStage, Update: updateStage,
		Read: readGateway("GetStage", "StageName"), Delete: deletePart("DeleteStage", "StageName"),
	}, {
		Name: "AWS::ApiGatewayV2::Deployment", Identifier: []string{"ApiId", "DeploymentId"},
		Properties: properties("ApiId*! Description StageName!"),
		Create: createPart(
			"CreateDeployment",
			"DeploymentId",
		), Update: updatePart("UpdateDeployment", "DeploymentId"),
		Read: readGateway("GetDeployment", "DeploymentId"), Delete: deletePart("DeleteDeployment", "DeploymentId"),
	}, {
		Name: "AWS::ApiGatewayV2::Authorizer", Identifier: []string{"ApiId", "AuthorizerId"},
		Properties: properties(
			`ApiId*! AuthorizerCredentialsArn AuthorizerPayloadFormatVersion AuthorizerResultTtlInSeconds
			AuthorizerType* AuthorizerUri EnableSimpleResponses IdentitySource IdentityValidationExpression
			JwtConfiguration
			Name*`,
		),
		Create: createPart("CreateAuthorizer", "AuthorizerId"), Update: updatePart("UpdateAuthorizer", "AuthorizerId"),
		Read: readGateway("GetAuthorizer", "AuthorizerId"), Delete: deletePart("DeleteAuthorizer", "AuthorizerId"),
	}}
}

const gateway = "apigatewayv2"

type apiOut struct {
	ID       string `json:"ApiId"`
	Endpoint string `json:"ApiEndpoint"`
	Name     string
}

func (a apiOut) state() State {
	return State{ID: a.ID, Attributes: map[string]any{"ApiId": a.ID, "ApiEndpoint": a.Endpoint}}
}

const apiProperties = `ApiKeySelectionExpression CorsConfiguration CredentialsArn Description DisableSchemaValidation
	DisableExecuteApiEndpoint IpAddressType Name ProtocolType RouteKey RouteSelectionExpression Target Version`

func createAPI(ctx context.Context, r *Request) (State, error) {
	for _, name := range []string{"Name", "ProtocolType"} {
		if !r.has(name) {
			return State{}, &PropertyError{Problems: []string{"#: required key [" + name + "] not found"}}
		}
	}
	if r.Again {
		if a, ok, err := emptyAPI(ctx, r); err != nil || ok {
			return a.state(), err
		}
	}
	in := pick(r.Properties, apiProperties)
	set(in, "Tags", anyMap(r.tags()))
	var out apiOut
	err := r.Call(ctx, gateway, "CreateApi", in, &out)
	return created(out.state(), err)
}

// emptyAPI finds the API that an interrupted attempt created: one with the requested name and without any parts.
func emptyAPI(ctx context.Context, r *Request) (found apiOut, ok bool, err error) {
	all, err := apis(ctx, r)
	for _, a := range all {
		if err != nil || ok || a.Name != r.text("Name") {
			continue
		}
		if r.has("Target") {
			return a, true, nil
		}
		ok = true
		for _, list := range []string{"GetRoutes", "GetIntegrations", "GetStages"} {
			var out struct{ Items []any }
			if err = r.Call(ctx, gateway, list, map[string]any{"ApiId": a.ID}, &out); err != nil || len(out.Items) > 0 {
				ok = false
				break
			}
		}
		if ok {
			found = a
		}
	}
	return found, ok, err
}

func apis(ctx context.Context, r *Request) (all []apiOut, err error) {
	in := map[string]any{}
	for {
		var out struct {
			Items     []apiOut
			NextToken string
		}
		if err := r.Call(ctx, gateway, "GetApis", in, &out); err != nil {
			return nil, err
		}
		all = append(all, out.Items...)
		if out.NextToken == "" {
			return all, nil
		}
		in["NextToken"] = out.NextToken
	}
}

func listAPIs(ctx context.Context, r *Request) ([]string, error) {
	all, err := apis(ctx, r)
	ids := make([]string, len(all))
	for i, a := range all {
		ids[i] = a.ID
	}
	return ids, err
}

func updateAPI(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, apiProperties)
	delete(in, "ProtocolType")
	in["ApiId"] = r.ID
	emptied(r, in, "Description", "Version")
	if !r.has("CorsConfiguration") && r.changed("CorsConfiguration") {
		if err := r.Call(ctx, gateway, "DeleteCorsConfiguration", map[string]any{"ApiId": r.ID}, nil); err != nil {
			return State{}, err
		}
	}
	var out apiOut
	if err := r.Call(ctx, gateway, "UpdateApi", in, &out); err != nil {
		return State{}, err
	}
	return out.state(), gatewayTags(ctx, r, "/apis/"+r.ID)
}

func gatewayTags(ctx context.Context, r *Request, resource string) error {
	return r.retag(ctx, gateway, "TagResource", "UntagResource", map[string]any{
		"ResourceArn": "arn:" + r.Scope.Partition() + ":apigateway:" + r.Scope.Region + "::" + resource},
		"Tags", "TagKeys", asMap)
}

// emptied sets texts that are no longer wanted to "".
func emptied(r *Request, in map[string]any, names ...string) {
	for _, name := range names {
		if _, had := r.Previous[name]; had && !r.has(name) {
			in[name] = ""
		}
	}
}

// removed adds entries of maps that are no longer wanted with empty texts, by which the API removes them.
func removed(r *Request, in map[string]any, name string) {
	before, now := object(r.Previous, name), object(r.Properties, name)
	all := map[string]any{}
	for k := range before {
		all[k] = ""
	}
	for k, v := range now {
		all[k] = v
	}
	set(in, name, all)
}

func anyMap(m map[string]string) map[string]any {
	to := make(map[string]any, len(m))
	for k, v := range m {
		to[k] = v
	}
	return to
}

func deleteOf(operation, id string) func(context.Context, *Request) error {
	return func(ctx context.Context, r *Request) error {
		return ignoreAbsent(r.Call(ctx, gateway, operation, map[string]any{id: r.ID}, nil))
	}
}

func deletePart(operation, id string) func(context.Context, *Request) error {
	return func(ctx context.Context, r *Request) error {
		return ignoreAbsent(r.Call(ctx, gateway, operation, map[string]any{"ApiId": r.text("ApiId"), id: r.ID}, nil))
	}
}

// part returns the document of a part of an API: its properties in the API's form.
func part(r *Request) (map[string]any, error) {
	in := pick(r.Properties, strings.Join(keysOf(r.Properties), " "))
	delete(in, "Tags")
	if r.Type != "AWS::ApiGatewayV2::Integration" {
		return in, nil
	}
	responses := map[string]any{}
	for status, v := range object(in, "ResponseParameters") {
		of, _ := v.(map[string]any)
		if _, known := of["ResponseParameters"]; !known || len(of) != 1 {
			return nil, &PropertyError{Problems: []string{"#/ResponseParameters/" + status +
				": required key [ResponseParameters] not found, or others are there"}}
		}
		parameters := map[string]any{}
		for _, e := range list(of, "ResponseParameters") {
			one, _ := e.(map[string]any)
			parameters[textOf(one, "Destination")] = textOf(one, "Source")
		}
		responses[status] = parameters
	}
	for status := range object(r.Previous, "ResponseParameters") {
		if _, ok := responses[status]; !ok {
			responses[status] = map[string]any{}
		}
	}
	delete(in, "ResponseParameters")
	set(in, "ResponseParameters", responses)
	return in, nil
}

func partState(id, value string) State {
	return State{ID: value, Attributes: map[string]any{id: value}}
}

func createPart(operation, id string) func(context.Context, *Request) (State, error) {
	return func(ctx context.Context, r *Request) (State, error) {
		in, err := part(r)
		if err != nil {
			return State{}, err
		}
		var out map[string]any
		if err := r.Call(ctx, gateway, operation, in, &out); err != nil {
			return State{}, err
		}
		return partState(id, textOf(out, id)), nil
	}
}

func updatePart(operation, id string) func(context.Context, *Request) (State, error) {
	return func(ctx context.Context, r *Request) (State, error) {
		in, err := part(r)
		if err != nil {
			return State{}, err
		}
		in[id] = r.ID
		emptied(r, in, "Description", "OperationName", "CredentialsArn", "Target", "AuthorizerId")
		delete(in, "IntegrationSubtype")
		if operation == "UpdateIntegration" {
			removed(r, in, "RequestParameters")
		}
		return partState(id, r.ID), r.Call(ctx, gateway, operation, in, nil)
	}
}

func createRoute(ctx context.Context, r *Request) (State, error) {
	s, err := createPart("CreateRoute", "RouteId")(ctx, r)
	if err == nil || !r.Again || !exists(err) {
		return s, err
	}
	var out struct {
		Items []struct {
			RouteID  string `json:"RouteId"`
			RouteKey string
		}
	}
	if err := r.Call(ctx, gateway, "GetRoutes", map[string]any{"ApiId": r.text("ApiId"), "MaxResults": "1000"}, &out); err != nil {
		return State{}, err
	}
	for _, route := range out.Items {
		if route.RouteKey == r.text("RouteKey") {
			return partState("RouteId", route.RouteID), nil
		}
	}
	return State{}, err
}

func createStage(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, strings.Join(keysOf(r.Properties), " "))
	delete(in, "Tags")
	set(in, "Tags", anyMap(r.tags()))
	name := r.text("StageName")
	_, err := r.create(ctx, gateway, "CreateStage", in, nil)
	return created(State{ID: name}, err)
}

func updateStage(ctx context.Context, r *Request) (State, error) {
	in, err := part(r)
	if err != nil {
		return State{}, err
	}
	in["StageName"] = r.ID
	emptied(r, in, "Description")
	removed(r, in, "StageVariables")
	if _, had := r.Previous["AutoDeploy"]; had && !r.has("AutoDeploy") {
		in["AutoDeploy"] = false
	}
	if r.changed("AccessLogSettings") && !r.has("AccessLogSettings") {
		if err := r.Call(ctx, gateway, "DeleteAccessLogSettings", map[string]any{"ApiId": r.text("ApiId"),
			"StageName": r.ID}, nil); err != nil {
			return State{}, err
		}
	}
	if err := r.Call(ctx, gateway, "UpdateStage", in, nil); err != nil {
		return State{}, err
	}
	return State{ID: r.ID}, gatewayTags(ctx, r, "/apis/"+r.text("ApiId")+"/stages/"+r.ID)
}

// readGateway returns a function that reads the properties of a template that the API reports.
func readGateway(operation, id string) func(context.Context, *Request) (map[string]any, error) {
	return func(ctx context.Context, r *Request) (map[string]any, error) {
		in := map[string]any{"ApiId": r.ID}
		if id != "" {
			in = map[string]any{"ApiId": r.text("ApiId"), id: r.ID}
		}
		var out map[string]any
		if err := r.Call(ctx, gateway, operation, in, &out); err != nil {
			return nil, goneIfAbsent(err)
		}
		known, p := All()[r.Type], map[string]any{}
		for name, v := range out {
			if of, ok := known.Properties[name]; ok && !of.WriteOnly && name != "Tags" {
				p[name] = v
			}
		}
		if id != "" {
			p["ApiId"] = r.text("ApiId")
		}
		return p, nil
	}
}
