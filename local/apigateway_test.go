package local_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"stepback/local"
	"stepback/local/services/lambda/functions"
)

// httpAPI is a template as CDK's HttpApi generates it: a route to a function, one to an EXPRESS state machine, one to
// a queue.
const httpAPI = `{"Resources":{
 "Api":{"Type":"AWS::ApiGatewayV2::Api","Properties":{"Name":"shop","ProtocolType":"HTTP",
  "CorsConfiguration":{"AllowMethods":["GET"],"AllowOrigins":["*"],"MaxAge":600},"Tags":{"of":"shop"}}},
 "Stage":{"Type":"AWS::ApiGatewayV2::Stage","Properties":{"ApiId":{"Ref":"Api"},"AutoDeploy":true,"StageName":"$default",
  "AccessLogSettings":{"DestinationArn":{"Fn::GetAtt":["Log","Arn"]},"Format":"$context.routeKey $context.status"}}},
 "Log":{"Type":"AWS::Logs::LogGroup"},
 "Queue":{"Type":"AWS::SQS::Queue"},
 "Role":{"Type":"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow",
  "Action":"sts:AssumeRole","Principal":{"Service":"apigateway.amazonaws.com"}}]}}},
 "Machine":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"StateMachineType":"EXPRESS","RoleArn":{"Fn::GetAtt":["Role","Arn"]},
  "DefinitionString":"{\"StartAt\":\"A\",\"States\":{\"A\":{\"Type\":\"Pass\",\"End\":true}}}"}},
 "Function":{"Type":"AWS::ApiGatewayV2::Integration","Properties":{"ApiId":{"Ref":"Api"},"IntegrationType":"AWS_PROXY",
  "IntegrationUri":"arn:aws:lambda:us-east-1:000000000000:function:greets","PayloadFormatVersion":"2.0"}},
 "Permission":{"Type":"AWS::Lambda::Permission","Properties":{"Action":"lambda:InvokeFunction","FunctionName":"greets",
  "Principal":"apigateway.amazonaws.com","SourceArn":{"Fn::Join":["",["arn:",{"Ref":"AWS::Partition"},":execute-api:us-east-1:",
  {"Ref":"AWS::AccountId"},":",{"Ref":"Api"},"/*/*/hello/{name}"]]}}},
 "Sync":{"Type":"AWS::ApiGatewayV2::Integration","Properties":{"ApiId":{"Ref":"Api"},"IntegrationType":"AWS_PROXY",
  "IntegrationSubtype":"StepFunctions-StartSyncExecution","CredentialsArn":{"Fn::GetAtt":["Role","Arn"]},"PayloadFormatVersion":"1.0",
  "RequestParameters":{"StateMachineArn":{"Ref":"Machine"},"Input":"$request.body"}}},
 "Send":{"Type":"AWS::ApiGatewayV2::Integration","Properties":{"ApiId":{"Ref":"Api"},"IntegrationType":"AWS_PROXY",
  "IntegrationSubtype":"SQS-SendMessage","CredentialsArn":{"Fn::GetAtt":["Role","Arn"]},"PayloadFormatVersion":"1.0",
  "RequestParameters":{"QueueUrl":{"Ref":"Queue"},"MessageBody":"$request.body"},
  "ResponseParameters":{"200":{"ResponseParameters":[{"Source":"202","Destination":"overwrite:statuscode"}]}}}},
 "Hello":{"Type":"AWS::ApiGatewayV2::Route","Properties":{"ApiId":{"Ref":"Api"},"RouteKey":"GET /hello/{name}","AuthorizationType":"NONE",
  "Target":{"Fn::Join":["",["integrations/",{"Ref":"Function"}]]}}},
 "Run":{"Type":"AWS::ApiGatewayV2::Route","Properties":{"ApiId":{"Ref":"Api"},"RouteKey":"POST /run","AuthorizationType":"NONE",
  "Target":{"Fn::Join":["",["integrations/",{"Ref":"Sync"}]]}}},
 "Default":{"Type":"AWS::ApiGatewayV2::Route","Properties":{"ApiId":{"Ref":"Api"},"RouteKey":"$default","AuthorizationType":"NONE",
  "Target":{"Fn::Join":["",["integrations/",{"Ref":"Send"}]]}}}},
 "Outputs":{"Url":{"Value":{"Fn::GetAtt":["Api","ApiEndpoint"]}},"Queue":{"Value":{"Ref":"Queue"}},"Log":{"Value":{"Ref":"Log"}}}}`

// outputs returns the outputs of a stack.
func (s stacks) outputs(name string) map[string]string {
	s.t.Helper()
	all, _ := s.call("DescribeStacks", map[string]any{"StackName": name})["Stacks"].([]any)
	list, _ := all[0].(map[string]any)["Outputs"].([]any)
	outputs := map[string]string{}
	for _, o := range list {
		output, _ := o.(map[string]any)
		key, _ := output["OutputKey"].(string)
		outputs[key], _ = output["OutputValue"].(string)
	}
	return outputs
}

func TestAStackHasAnHTTPAPI(t *testing.T) {
	t.Parallel()
	greets := func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: func(in struct {
			In map[string]string `json:"pathParameters"`
		}) (string, error) {
			return "hello " + in.In["name"], nil
		}}, nil
	}
	p := open(t, local.Config{BuiltIn: map[string]functions.BuiltIn{"greets": greets}})
	s := stacksOf(t, p)
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "greets", BuiltIn: "greets",
		Role: "arn:aws:iam::000000000000:role/r"}); err != nil {
		t.Fatal(err)
	}
	s.call(
		"CreateStack",
		map[string]any{"StackName": "shop", "TemplateBody": httpAPI, "Capabilities": []string{"CAPABILITY_IAM"}},
	)
	if status, reason := s.settled("shop"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("shop"))
	}
	outputs := s.outputs("shop")
	u, err := url.Parse(outputs["Url"])
	if err != nil || !strings.HasSuffix(u.Hostname(), ".execute-api.localhost") {
		t.Fatal(outputs, err)
	}
	ask := func(method, path, body, host string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, p.Endpoint+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
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
	if got := ask("GET", "/hello/world", "", u.Host); got != `200 OK "hello world"` {
		t.Error(got)
	}
	if got := ask("POST", "/run", `{"order":7}`, u.Host); !strings.HasPrefix(got, "200 OK") ||
		!strings.Contains(got, `"output":"{\"order\":7}"`) || !strings.Contains(got, `"status":"SUCCEEDED"`) {
		t.Error(got)
	}
	id, _, _ := strings.Cut(u.Host, ".")
	if got := ask("PUT", "/_aws/execute-api/"+id+"/$default/anything", `job 1`, ""); !strings.HasPrefix(
		got,
		"202 Accepted",
	) ||
		!strings.Contains(got, `"MessageId"`) {
		t.Error(got)
	}
	out, err := s.try("sqs", "ReceiveMessage", map[string]any{"QueueUrl": outputs["Queue"]})
	if err != nil {
		t.Fatal(err)
	}
	if messages, _ := out["Messages"].([]any); len(messages) != 1 || messages[0].(map[string]any)["Body"] != "job 1" {
		t.Errorf("the queue has %v", out)
	}
	logged, err := s.try("cloudwatchlogs", "FilterLogEvents", map[string]any{"logGroupName": outputs["Log"]})
	if events, _ := logged["events"].([]any); err != nil || len(events) != 3 ||
		events[0].(map[string]any)["message"] != "GET /hello/{name} 200" {
		t.Errorf("logged %v, %v", logged, err)
	}
	s.call("UpdateStack", map[string]any{"StackName": "shop", "Capabilities": []string{"CAPABILITY_IAM"},
		"TemplateBody": strings.Replace(
			strings.Replace(httpAPI, "GET /hello/{name}", "GET /hi/{name}", 1),
			`"Source":"202"`,
			`"Source":"201"`,
			1,
		)})
	if status, reason := s.settled("shop"); status != "UPDATE_COMPLETE" {
		t.Fatal(status, reason, s.events("shop"))
	}
	if got := ask("GET", "/hi/you", "", u.Host); got != `200 OK "hello you"` {
		t.Error(got)
	}
	if got := ask("POST", "/hello/x", "job 2", u.Host); !strings.HasPrefix(got, "201 Created") {
		t.Error(got)
	}
	drift := s.call("DetectStackDrift", map[string]any{"StackName": "shop"})
	for {
		d := s.call(
			"DescribeStackDriftDetectionStatus",
			map[string]any{"StackDriftDetectionId": drift["StackDriftDetectionId"]},
		)
		if d["DetectionStatus"] != "DETECTION_IN_PROGRESS" {
			if d["StackDriftStatus"] != "IN_SYNC" {
				t.Errorf("drift %v: %v", d, s.call("DescribeStackResourceDrifts", map[string]any{"StackName": "shop"}))
			}
			break
		}
	}
	s.call("DeleteStack", map[string]any{"StackName": "shop"})
	if status, reason := s.settled("shop"); status != "GONE" {
		t.Fatal(status, reason, s.events("shop"))
	}
	if got := ask("GET", "/hi/you", "", u.Host); got != `404 Not Found {"message":"Not Found"}` {
		t.Error(got)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.Endpoint+"/restapis", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=k/20261123/us-east-1/apigateway/aws4_request")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != http.StatusNotImplemented {
		t.Errorf("a REST API is answered with %s", a.Status)
	}
}
