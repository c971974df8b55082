package local_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"stepback/local"
	"stepback/local/services/lambda/functions"
)

// restAPI is a template as CDK's LambdaRestApi generates it, with a method that starts an EXPRESS state machine.
const restAPI = `{"Resources":{
 "Api":{"Type":"AWS::ApiGateway::RestApi","Properties":{"Name":"saga","EndpointConfiguration":{"Types":["EDGE"]}}},
 "Role":{"Type":"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow",
  "Action":"sts:AssumeRole","Principal":{"Service":"apigateway.amazonaws.com"}}]}}},
 "Account":{"Type":"AWS::ApiGateway::Account","Properties":{"CloudWatchRoleArn":{"Fn::GetAtt":["Role","Arn"]}},"DependsOn":["Api"]},
 "Machine":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"StateMachineType":"EXPRESS","RoleArn":{"Fn::GetAtt":["Role","Arn"]},
  "DefinitionString":"{\"StartAt\":\"A\",\"States\":{\"A\":{\"Type\":\"Pass\",\"End\":true}}}"}},
 "Deployment":{"Type":"AWS::ApiGateway::Deployment","Properties":{"RestApiId":{"Ref":"Api"}},"DependsOn":["Root","Any","Run"]},
 "Stage":{"Type":"AWS::ApiGateway::Stage","Properties":{"RestApiId":{"Ref":"Api"},"DeploymentId":{"Ref":"Deployment"},"StageName":"prod",
  "Variables":{"of":"saga"}},"DependsOn":["Account"]},
 "Proxy":{"Type":"AWS::ApiGateway::Resource","Properties":{"RestApiId":{"Ref":"Api"},"ParentId":{"Fn::GetAtt":["Api","RootResourceId"]},
  "PathPart":"{proxy+}"}},
 "Runs":{"Type":"AWS::ApiGateway::Resource","Properties":{"RestApiId":{"Ref":"Api"},"ParentId":{"Fn::GetAtt":["Api","RootResourceId"]},
  "PathPart":"runs"}},
 "Root":{"Type":"AWS::ApiGateway::Method","Properties":{"RestApiId":{"Ref":"Api"},"ResourceId":{"Fn::GetAtt":["Api","RootResourceId"]},
  "HttpMethod":"ANY","AuthorizationType":"NONE","Integration":{"Type":"AWS_PROXY","IntegrationHttpMethod":"POST","Uri":URI}}},
 "Any":{"Type":"AWS::ApiGateway::Method","Properties":{"RestApiId":{"Ref":"Api"},"ResourceId":{"Ref":"Proxy"},
  "HttpMethod":"ANY","AuthorizationType":"NONE","Integration":{"Type":"AWS_PROXY","IntegrationHttpMethod":"POST","Uri":URI}}},
 "Run":{"Type":"AWS::ApiGateway::Method","Properties":{"RestApiId":{"Ref":"Api"},"ResourceId":{"Ref":"Runs"},"HttpMethod":"POST",
  "AuthorizationType":"NONE","MethodResponses":[{"StatusCode":"200"}],"Integration":{"Type":"AWS","IntegrationHttpMethod":"POST",
  "Credentials":{"Fn::GetAtt":["Role","Arn"]},"IntegrationResponses":[{"StatusCode":"200"}],
  "Uri":{"Fn::Sub":"arn:${AWS::Partition}:apigateway:${AWS::Region}:states:action/StartSyncExecution"},
  "RequestTemplates":{"application/json":{"Fn::Sub":"{\"input\":\"$util.escapeJavaScript($input.json('$'))\",\"stateMachineArn\":\"${Machine}\"}"}}}}},
 "Permission":{"Type":"AWS::Lambda::Permission","Properties":{"Action":"lambda:InvokeFunction","FunctionName":"greets",
  "Principal":"apigateway.amazonaws.com","SourceArn":{"Fn::Sub":"arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/prod/*/*"}}}},
 "Outputs":{"Api":{"Value":{"Ref":"Api"}}}}`

const greetsURI = `{"Fn::Sub":"arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/` +
	`arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:greets/invocations"}`

// TestAStackHasARESTAPI: requests reach the function with the event of REST APIs, and the state machine with their
// body.
func TestAStackHasARESTAPI(t *testing.T) {
	t.Parallel()
	greets := func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: func(in struct {
			Method    string            `json:"httpMethod"`
			Resource  string            `json:"resource"`
			Path      map[string]string `json:"pathParameters"`
			Query     map[string]string `json:"queryStringParameters"`
			Variables map[string]string `json:"stageVariables"`
		}) (map[string]any, error) {
			text, err := json.Marshal(in)
			return map[string]any{"statusCode": 201, "body": string(text)}, err
		}}, nil
	}
	p := open(t, local.Config{BuiltIn: map[string]functions.BuiltIn{"greets": greets}})
	s := stacksOf(t, p)
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "greets", BuiltIn: "greets",
		Role: "arn:aws:iam::000000000000:role/r"}); err != nil {
		t.Fatal(err)
	}
	body := strings.ReplaceAll(restAPI, "URI}", greetsURI+"}")
	capabilities := []string{"CAPABILITY_IAM"}
	s.call("CreateStack", map[string]any{"StackName": "saga", "TemplateBody": body, "Capabilities": capabilities})
	if status, reason := s.settled("saga"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("saga"))
	}
	id := s.outputs("saga")["Api"]
	ask := func(method, path, body string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, p.Endpoint+"/_aws/execute-api/"+id+"/prod"+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.Status + " " + string(text)
	}
	for path, want := range map[string]string{
		"/?runType=success": `201 Created {"httpMethod":"GET","resource":"/","pathParameters":null,` +
			`"queryStringParameters":{"runType":"success"},"stageVariables":{"of":"saga"}}`,
		"/a/b": `201 Created {"httpMethod":"GET","resource":"/{proxy+}","pathParameters":{"proxy":"a/b"},` +
			`"queryStringParameters":null,"stageVariables":{"of":"saga"}}`,
	} {
		if got := ask("GET", path, ""); got != want {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
	if got := ask("POST", "/runs", `{"order":7}`); !strings.HasPrefix(got, "200 OK") ||
		!strings.Contains(got, `"output":"{\"order\":7}"`) {
		t.Error(got)
	}
	// The method becomes another kind of integration; CDK creates a new deployment with each change.
	changed := strings.Replace(strings.ReplaceAll(body, `"Deployment"`, `"Deployment2"`),
		`"Integration":{"Type":"AWS_PROXY","IntegrationHttpMethod":"POST","Uri":`+greetsURI+`}}},
 "Run"`, `"Integration":{"Type":"HTTP_PROXY","IntegrationHttpMethod":"GET","Uri":"`+p.Endpoint+`/_stepback/nothing"}}},
 "Run"`, 1)
	s.call("UpdateStack", map[string]any{"StackName": "saga", "TemplateBody": changed, "Capabilities": capabilities})
	if status, reason := s.settled("saga"); status != "UPDATE_COMPLETE" {
		t.Fatal(status, reason, s.events("saga"))
	}
	if got := ask("GET", "/a/b", ""); strings.HasPrefix(got, "201") || strings.Contains(got, `"Internal`) {
		t.Errorf("after the change: %s", got)
	}
	if got := ask("GET", "/?x=1", ""); !strings.HasPrefix(got, "201 Created") {
		t.Errorf("an unchanged method: %s", got)
	}
	s.call("DeleteStack", map[string]any{"StackName": "saga"})
	if status, reason := s.settled("saga"); status != "GONE" {
		t.Error(status, reason)
	}
	if got := ask("GET", "/", ""); !strings.HasPrefix(got, "404") && !strings.HasPrefix(got, "403") {
		t.Errorf("after the deletion: %s", got)
	}
}

// TestWhatRESTAPIsLackIsNamed: what HTTP APIs cannot serve fails the stack with what to do.
func TestWhatRESTAPIsLackIsNamed(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{})
	s := stacksOf(t, p)
	const method = `"HttpMethod":"GET","RestApiId":{"Ref":"Api"},"ResourceId":{"Fn::GetAtt":["Api","RootResourceId"]}`
	for name, c := range map[string]struct{ resource, want string }{
		"mock":      {`"Type":"AWS::ApiGateway::Method","Properties":{` + method + `,"Integration":{"Type":"MOCK"}}`, "MOCK integrations of REST APIs are not served here"},
		"key":       {`"Type":"AWS::ApiGateway::Method","Properties":{` + method + `,"ApiKeyRequired":true,"Integration":{"Type":"MOCK"}}`, "#/ApiKeyRequired: not served for REST APIs here"},
		"other":     {`"Type":"AWS::ApiGateway::Method","Properties":{` + method + `,"Integration":{"Type":"AWS","Uri":"arn:aws:apigateway:us-east-1:sqs:path/1/q"}}`, "are served here for StartExecution and StartSyncExecution"},
		"templates": {`"Type":"AWS::ApiGateway::Method","Properties":{` + method + `,"Integration":{"Type":"AWS","Uri":"arn:aws:apigateway:us-east-1:states:action/StartExecution","RequestTemplates":{"application/json":"#set($a = 1)"}}}`, "a mapping template is served here if"},
		"cache":     {`"Type":"AWS::ApiGateway::Stage","Properties":{"RestApiId":{"Ref":"Api"},"StageName":"s","CacheClusterEnabled":true}`, "#/CacheClusterEnabled: not served for REST APIs here"},
		"part":      {`"Type":"AWS::ApiGateway::Resource","Properties":{"RestApiId":{"Ref":"Api"},"ParentId":{"Fn::GetAtt":["Api","RootResourceId"]},"PathPart":"a/b"}`, "a part of a path without slashes is needed"},
		"parent":    {`"Type":"AWS::ApiGateway::Resource","Properties":{"RestApiId":{"Ref":"Api"},"ParentId":"??","PathPart":"a"}`, "Invalid Resource identifier specified: ??"},
		"body":      {`"Type":"AWS::ApiGateway::RestApi","Properties":{"Body":{"openapi":"3.0.1"}}`, "#/Body: not served for REST APIs here"},
	} {
		s.call("CreateStack", map[string]any{"StackName": "lacks-" + name, "TemplateBody": `{"Resources":{` +
			`"Api":{"Type":"AWS::ApiGateway::RestApi","Properties":{"Name":"a"}},"X":{` + c.resource + `}}}`})
		status, _ := s.settled("lacks-" + name)
		events, err := json.Marshal(s.events("lacks-" + name))
		if err != nil {
			t.Fatal(err)
		}
		if status != "ROLLBACK_COMPLETE" || !strings.Contains(string(events), c.want) {
			t.Errorf("%s: %s, %s\nwant %s", name, status, events, c.want)
		}
	}
}
