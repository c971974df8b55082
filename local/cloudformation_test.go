package local_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/aws/client"
	"stepback/local"
)

// stacks calls CloudFormation and other services of a platform.
type stacks struct {
	t   *testing.T
	cfg awssdk.Config
}

func stacksOf(t *testing.T, p *local.Platform) stacks {
	t.Helper()
	return stacks{t, awssdk.Config{Region: "us-east-1", BaseEndpoint: awssdk.String(p.Endpoint),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		Retryer:     func() awssdk.Retryer { return awssdk.NopRetryer{} }}}
}

func (s stacks) try(service, operation string, in any) (map[string]any, error) {
	s.t.Helper()
	n, err := client.NewNamed(s.t.Context(), s.cfg, service)
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]any{}
	return out, n.Call(s.t.Context(), operation, in, &out)
}

func (s stacks) call(operation string, in any) map[string]any {
	s.t.Helper()
	out, err := s.try("cloudformation", operation, in)
	if err != nil {
		s.t.Fatal(operation, err)
	}
	return out
}

// settled waits until no operation is in progress on a stack and returns its status and the reason.
func (s stacks) settled(name string) (status, reason string) {
	s.t.Helper()
	for {
		out, err := s.try("cloudformation", "DescribeStacks", map[string]any{"StackName": name})
		if err != nil {
			return "GONE", err.Error()
		}
		st := out["Stacks"].([]any)[0].(map[string]any)
		status, _ = st["StackStatus"].(string)
		reason, _ = st["StackStatusReason"].(string)
		if !strings.HasSuffix(status, "_IN_PROGRESS") {
			return status, reason
		}
		if err := s.t.Context().Err(); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s stacks) events(name string) string {
	s.t.Helper()
	text, _ := json.MarshalIndent(s.call("DescribeStackEvents", map[string]any{"StackName": name}), "", " ")
	return string(text)
}

const small = `
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Days: {Type: Number, Default: 7}
Resources:
  Queue:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 45
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 3}
  Dead:
    Type: AWS::SQS::Queue
  Log:
    Type: AWS::Logs::LogGroup
    Properties: {RetentionInDays: !Ref Days}
  Bucket:
    Type: AWS::S3::Bucket
  Machine:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      RoleArn: !Sub arn:aws:iam::${AWS::AccountId}:role/x
      DefinitionString: '{"StartAt":"A","States":{"A":{"Type":"Pass","Result":"${queue}","End":true}}}'
      DefinitionSubstitutions: {queue: !GetAtt Queue.QueueName}
Outputs:
  Url: {Value: !Ref Queue, Export: {Name: url}}
  Arn: {Value: !GetAtt Machine.Arn}
  Group: {Value: !Ref Log}
`

func openPlatform(t *testing.T, dir string) *local.Platform {
	t.Helper()
	p, err := local.Open(context.Background(), local.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStackIsMadeChangedAndDeleted(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "one", "TemplateBody": small})
	if status, reason := s.settled("one"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("one"))
	}
	_, err := s.try("cloudformation", "UpdateStack", map[string]any{"StackName": "one", "TemplateBody": small})
	if err == nil || !strings.Contains(err.Error(), "No updates are to be performed.") {
		t.Fatal(err)
	}
	s.call("UpdateStack", map[string]any{"StackName": "one", "TemplateBody": small, "Parameters": []any{
		map[string]any{"ParameterKey": "Days", "ParameterValue": "14"}}})
	if status, reason := s.settled("one"); status != "UPDATE_COMPLETE" {
		t.Fatal(status, reason, s.events("one"))
	}
	s.call("DeleteStack", map[string]any{"StackName": "one"})
	if status, reason := s.settled("one"); status != "GONE" {
		t.Fatal(status, reason)
	}
}

func TestFailedUpdateRollsBack(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "back", "TemplateBody": small})
	if status, reason := s.settled("back"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("back"))
	}
	before := s.call("DescribeStacks", map[string]any{"StackName": "back"})["Stacks"].([]any)[0].(map[string]any)["Outputs"]
	broken := strings.NewReplacer("VisibilityTimeout: 45", "QueueName: renamed", `"Type":"Pass"`, `"Type":"Nonsense"`).Replace(small)
	s.call("UpdateStack", map[string]any{"StackName": "back", "TemplateBody": broken})
	status, reason := s.settled("back")
	if status != "UPDATE_ROLLBACK_COMPLETE" || !strings.Contains(reason, "failed to update: [Machine]") {
		t.Fatal(status, reason, s.events("back"))
	}
	after := s.call("DescribeStacks", map[string]any{"StackName": "back"})["Stacks"].([]any)[0].(map[string]any)["Outputs"]
	if a, b := jsonText(before), jsonText(after); a != b {
		t.Errorf("the outputs were %s and are %s", a, b)
	}
	queues, err := s.try("sqs", "ListQueues", nil)
	if err != nil || len(queues["QueueUrls"].([]any)) != 2 || strings.Contains(jsonText(queues), "renamed") {
		t.Errorf("%v, %v", queues, err)
	}
	s.call("CreateStack", map[string]any{"StackName": "never", "TemplateBody": strings.Replace(
		strings.Replace(broken, "Name: url", "Name: other", 1), "renamed", "another", 1)})
	if status, reason := s.settled("never"); status != "ROLLBACK_COMPLETE" || !strings.Contains(reason, "") {
		t.Fatal(status, reason)
	}
	if queues, err := s.try("sqs", "ListQueues", nil); err != nil || len(queues["QueueUrls"].([]any)) != 2 {
		t.Errorf("%v, %v", queues, err)
	}
}

func jsonText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func TestTemplatesThatCannotBeDeployed(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	for name, c := range map[string]struct{ template, want string }{
		"cycle": {"Resources: {A: {Type: AWS::SQS::Queue, Properties: {QueueName: !GetAtt B.QueueName}}, B: {Type: AWS::SQS::Queue, DependsOn: A}}",
			"Circular dependency between resources: [A, B]"},
		"types": {"Resources: {A: {Type: AWS::Foo::Bar}, B: {Type: AWS::EC2::VPC}}",
			"Template format error: Unrecognized resource types: [AWS::EC2::VPC, AWS::Foo::Bar]"},
		"property": {"Resources: {A: {Type: AWS::SQS::Queue, Properties: {Colour: red}}}",
			"Properties validation failed for resource A of type AWS::SQS::Queue with message:\n#: extraneous key [Colour] is not permitted"},
		"reference": {"Resources: {A: {Type: AWS::SQS::Queue, Properties: {QueueName: !Ref Nobody}}}",
			"Template format error: Unresolved resource dependencies [Nobody] in the Resources block of the template"},
		"empty": {"Resources: {}", "Template format error: At least one Resources member must be defined."},
		"json":  {"{\n  \"Resources\": {,}\n}", "Template format error: JSON not well-formed. (line 2, column 18)"},
		"null": {"Resources: {A: {Type: AWS::SQS::Queue, Properties: }}",
			"[/Resources/A/Properties] 'null' values are not allowed in templates"},
		"output": {"Resources: {A: {Type: AWS::SQS::Queue}}\nOutputs: {O: {}}",
			"Template format error: Every Outputs member must contain a Value object"},
		"depth": {"Mappings: {M: {A: flat}}\nResources: {A: {Type: AWS::SQS::Queue}}",
			"Template format error: Every Mappings member A must be a map"},
		"mapping": {"Mappings: {M: {A: {x: y}}}\nResources: {A: {Type: AWS::SQS::Queue, Properties: {QueueName: !FindInMap [M, C, x]}}}",
			"Template error: Unable to get mapping for M::C::x"},
		"function": {"Resources: {A: {Type: AWS::SQS::Queue, Properties: {QueueName: !Nope x}}}",
			"Template format error: YAML not well-formed. (line 1, column 64): the tag !Nope is not known"},
		"attribute": {"Resources: {A: {Type: AWS::SQS::Queue, Properties: {QueueName: !GetAtt B.Colour}}, B: {Type: AWS::SNS::Topic}}",
			"Template error: resource B does not support attribute type Colour in Fn::GetAtt"},
		"attributeofoutput": {"Resources: {A: {Type: AWS::SQS::Queue}}\nOutputs: {O: {Value: !Sub '${A.Colour}'}}",
			"Template error: resource A does not support attribute type Colour in Fn::GetAtt"},
		"unserved": {"Resources: {A: {Type: AWS::IAM::UserToGroupAddition, Properties: {GroupName: g, Users: []}}}\n" +
			"Outputs: {O: {Value: !GetAtt A.Id}}", "Template error: the attribute Id of AWS::IAM::UserToGroupAddition is not supported here"},
		"default": {"Mappings: {M: {A: {x: y}}}\nResources: {A: {Type: AWS::SQS::Queue, Properties: {QueueName: " +
			"!FindInMap [M, C, x, {DefaultValue: z}]}}}",
			"Template error: every Fn::FindInMap object requires three parameters, the map name, map key and the attribute for return value"},
		"defaultincondition": {"Mappings: {M: {A: {x: y}}}\nConditions: {N: !Equals [!FindInMap [M, C, x, {DefaultValue: z}], z]}\n" +
			"Resources: {A: {Type: AWS::SQS::Queue}}",
			"Template error: every Fn::FindInMap object requires three parameters, the map name, map key and the attribute for return value"},
		"absent": {"Conditions: {N: !Equals [a, b]}\nResources: {A: {Type: AWS::SQS::Queue}, B: {Type: AWS::SQS::Queue, Condition: N}, " +
			"C: {Type: AWS::SQS::Queue, Condition: N}}\nOutputs: {O: {Value: !Ref B}, P: {Value: !Sub '${C.Arn}'}}",
			"Template format error: Unresolved resource dependencies [B, C] in the Outputs block of the template"},
		"export": {"Resources: {A: {Type: AWS::SQS::Queue, Properties: {QueueName: !ImportValue nobody}}}", ""},
	} {
		_, err := s.try("cloudformation", "CreateStack", map[string]any{"StackName": name, "TemplateBody": c.template})
		if c.want == "" {
			if status, _ := s.settled(name); err != nil || status != "ROLLBACK_COMPLETE" ||
				!strings.Contains(s.events(name), "No export named nobody found.") {
				t.Error(name, err, status)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list := s.call("ListStacks", nil)["StackSummaries"].([]any); len(list) != 1 {
		t.Errorf("%d stacks", len(list))
	}
}

// TestFunctionsOfLanguageExtensions has functions and arguments that need the transform, conditions that leave outputs
// out, and attributes that are properties.
func TestFunctionsOfLanguageExtensions(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "extended", "Capabilities": []any{"CAPABILITY_AUTO_EXPAND"}, "TemplateBody": `
Transform: AWS::LanguageExtensions
Mappings: {M: {A: {x: y}}}
Conditions:
  N: !Equals [a, b]
  D: !Equals [!FindInMap [M, C, x, {DefaultValue: z}], z]
Resources:
  A:
    Type: AWS::SNS::Topic
    Condition: D
    Properties: {DisplayName: !FindInMap [M, C, x, {DefaultValue: z}]}
  B: {Type: AWS::SQS::Queue, Condition: N}
Outputs:
  Length: {Value: {Fn::Length: [a, b, c]}}
  Json: {Value: {Fn::ToJsonString: {a: 1}}}
  Name: {Value: !GetAtt A.DisplayName}
  Left: {Condition: N, Value: !Ref B}
  Chosen: {Value: !If [N, !Ref B, none]}
`})
	if status, reason := s.settled("extended"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason)
	}
	got := jsonText(s.call("DescribeStacks", map[string]any{"StackName": "extended"})["Stacks"].([]any)[0].(map[string]any)["Outputs"])
	want := `[{"OutputKey":"Length","OutputValue":"3"},{"OutputKey":"Json","OutputValue":"{\"a\":1}"},` +
		`{"OutputKey":"Name","OutputValue":"z"},{"OutputKey":"Chosen","OutputValue":"none"}]`
	if got != want {
		t.Errorf("outputs\n got %s\nwant %s", got, want)
	}
}

const custom = `
Resources:
  Provider:
    Type: AWS::Lambda::Function
    Properties:
      Handler: index.handler
      Runtime: RUNTIME
      Timeout: 20
      Role: arn:aws:iam::000000000000:role/x
      Code:
        ZipFile: |
CODE
  Made:
    Type: Custom::Thing
    Properties: {ServiceToken: !GetAtt Provider.Arn, Size: 3, Word: WORD}
Outputs:
  Echo: {Value: !GetAtt Made.Echo}
  Id: {Value: !Ref Made}
`

const pythonProvider = `          import cfnresponse
          def handler(event, context):
              p = event["ResourceProperties"]
              if p["Word"] == "throw":
                  raise ValueError("thrown")
              status = cfnresponse.FAILED if p["Word"] == "bad" else cfnresponse.SUCCESS
              cfnresponse.send(event, context, status, {"Echo": p["Size"] + p["Word"]}, "thing-" + p["Word"], reason="bad word")`

const nodeProvider = `          const https = require("https");
          exports.handler = async (event) => {
            const url = new URL(event.ResponseURL);
            const body = JSON.stringify({Status: "SUCCESS", PhysicalResourceId: "thing-" + event.ResourceProperties.Word,
              StackId: event.StackId, RequestId: event.RequestId, LogicalResourceId: event.LogicalResourceId,
              Data: {Echo: event.ResourceProperties.Size + event.ResourceProperties.Word}});
            await new Promise((done, failed) => {
              const r = https.request({hostname: url.hostname, path: url.pathname, method: "PUT",
                headers: {"content-type": "", "content-length": body.length}}, (a) => { a.resume(); done(); });
              r.on("error", failed); r.write(body); r.end();
            });
          };`

func TestCustomResource(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	text := func(runtime, code, word string) string {
		return strings.NewReplacer("RUNTIME", runtime, "CODE", code, "WORD", word).Replace(custom)
	}
	outputs := func(name string) string {
		return jsonText(s.call("DescribeStacks", map[string]any{"StackName": name})["Stacks"].([]any)[0].(map[string]any)["Outputs"])
	}
	for name, c := range map[string][2]string{"python": {"python3.12", pythonProvider}, "node": {"nodejs20.x", nodeProvider}} {
		s.call("CreateStack", map[string]any{"StackName": name, "TemplateBody": text(c[0], c[1], "good")})
		if status, reason := s.settled(name); status != "CREATE_COMPLETE" {
			t.Fatal(status, reason, s.events(name))
		}
		if got := outputs(name); got != `[{"OutputKey":"Echo","OutputValue":"3good"},{"OutputKey":"Id","OutputValue":"thing-good"}]` {
			t.Error(name, got)
		}
	}
	s.call("UpdateStack", map[string]any{"StackName": "python", "TemplateBody": text("python3.12", pythonProvider, "new")})
	if status, reason := s.settled("python"); status != "UPDATE_COMPLETE" || !strings.Contains(outputs("python"), "thing-new") {
		t.Fatal(status, reason, outputs("python"))
	}
	if !strings.Contains(s.events("python"), `"PhysicalResourceId": "thing-good"`) {
		t.Error("the old resource was not deleted")
	}
	for word, want := range map[string]string{"bad": "Received response status [FAILED] from custom resource. Message returned: bad word",
		"throw": "thrown"} {
		s.call("UpdateStack", map[string]any{"StackName": "python", "TemplateBody": text("python3.12", pythonProvider, word)})
		if status, reason := s.settled("python"); status != "UPDATE_ROLLBACK_COMPLETE" ||
			!strings.Contains(s.events("python"), want) {
			t.Error(status, reason, s.events("python"))
		}
	}
	s.call("DeleteStack", map[string]any{"StackName": "python"})
	if status, reason := s.settled("python"); status != "GONE" {
		t.Fatal(status, reason, s.events("python"))
	}
}

const patient = `
Resources:
  Handle: {Type: AWS::CloudFormation::WaitConditionHandle}
  Queue: {Type: AWS::SQS::Queue}
  Wait:
    Type: AWS::CloudFormation::WaitCondition
    DependsOn: Queue
    Properties: {Handle: !Ref Handle, Timeout: 3600}
  Behind: {Type: AWS::SQS::Queue, DependsOn: Wait}
Outputs:
  Handle: {Value: !Ref Handle}
  Data: {Value: !GetAtt Wait.Data}
`

func TestDeploymentGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openPlatform(t, dir)
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "patient", "TemplateBody": patient})
	handle := ""
	for handle == "" || !strings.Contains(s.events("patient"), `"LogicalResourceId": "Wait"`) {
		for _, r := range s.call("DescribeStackResources", map[string]any{"StackName": "patient"})["StackResources"].([]any) {
			if m := r.(map[string]any); m["LogicalResourceId"] == "Handle" && m["ResourceStatus"] == "CREATE_COMPLETE" {
				handle = m["PhysicalResourceId"].(string)
			}
		}
	}
	if _, err := s.try("cloudformation", "UpdateStack", map[string]any{"StackName": "patient", "TemplateBody": small}); err == nil ||
		!strings.Contains(err.Error(), "is in CREATE_IN_PROGRESS state and can not be updated.") {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = openPlatform(t, dir)
	defer p.Close()
	s = stacksOf(t, p)
	token := handle[strings.LastIndexByte(handle, '/')+1:]
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.Endpoint+"/_stepback/cloudformation/response/"+token,
		strings.NewReader(`{"Status":"SUCCESS","UniqueId":"one","Data":"ready","Reason":""}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
	if status, reason := s.settled("patient"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("patient"))
	}
	out := jsonText(s.call("DescribeStacks", map[string]any{"StackName": "patient"})["Stacks"].([]any)[0].(map[string]any)["Outputs"])
	if !strings.Contains(out, `{\"one\":\"ready\"}`) {
		t.Error(out)
	}
	queues, err := s.try("sqs", "ListQueues", nil)
	if err != nil || len(queues["QueueUrls"].([]any)) != 2 {
		t.Error(queues, err)
	}
}

func TestChangeSets(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	set := map[string]any{"StackName": "sets", "ChangeSetName": "first", "ChangeSetType": "CREATE", "TemplateBody": small}
	s.call("CreateChangeSet", set)
	if status, _ := s.settledIn("sets", "REVIEW_IN_PROGRESS"); status != "REVIEW_IN_PROGRESS" {
		t.Error(status)
	}
	described := s.call("DescribeChangeSet", map[string]any{"StackName": "sets", "ChangeSetName": "first"})
	if n := len(described["Changes"].([]any)); n != 5 || described["Status"] != "CREATE_COMPLETE" {
		t.Error(jsonText(described))
	}
	s.call("ExecuteChangeSet", map[string]any{"StackName": "sets", "ChangeSetName": "first"})
	if status, reason := s.settled("sets"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason)
	}
	set["ChangeSetType"], set["ChangeSetName"] = "UPDATE", "second"
	s.call("CreateChangeSet", set)
	described = s.call("DescribeChangeSet", map[string]any{"StackName": "sets", "ChangeSetName": "second"})
	if described["Status"] != "FAILED" || !strings.HasPrefix(described["StatusReason"].(string), "The submitted information didn't contain changes.") {
		t.Error(jsonText(described))
	}
	set["ChangeSetName"], set["TemplateBody"] = "third", strings.NewReplacer("VisibilityTimeout: 45", "QueueName: named",
		"  Bucket:\n    Type: AWS::S3::Bucket\n", "").Replace(small)
	s.call("CreateChangeSet", set)
	described = s.call("DescribeChangeSet", map[string]any{"StackName": "sets", "ChangeSetName": "third", "IncludePropertyValues": true})
	got := map[string]string{}
	for _, c := range described["Changes"].([]any) {
		r := c.(map[string]any)["ResourceChange"].(map[string]any)
		replacement, _ := r["Replacement"].(string)
		got[r["LogicalResourceId"].(string)] = r["Action"].(string) + " " + replacement
	}
	want := map[string]string{"Queue": "Modify True", "Machine": "Modify False", "Bucket": "Remove "}
	if jsonText(got) != jsonText(want) {
		t.Errorf("the changes are %v, not %v", got, want)
	}
	s.call("DeleteChangeSet", map[string]any{"StackName": "sets", "ChangeSetName": "absent"})
	s.call("ExecuteChangeSet", map[string]any{"StackName": "sets", "ChangeSetName": "third"})
	if status, reason := s.settled("sets"); status != "UPDATE_COMPLETE" {
		t.Fatal(status, reason)
	}
	drift := s.call("DetectStackDrift", map[string]any{"StackName": "sets"})
	status := s.call("DescribeStackDriftDetectionStatus", drift)
	if status["StackDriftStatus"] != "IN_SYNC" {
		t.Error(jsonText(s.call("DescribeStackResourceDrifts", map[string]any{"StackName": "sets"})))
	}
	url := s.call("DescribeStacks", map[string]any{"StackName": "sets"})["Stacks"].([]any)[0].(map[string]any)["Outputs"].([]any)[0].(map[string]any)["OutputValue"]
	if _, err := s.try("sqs", "SetQueueAttributes", map[string]any{"QueueUrl": url, "Attributes": map[string]any{
		"RedrivePolicy": ""}}); err != nil {
		t.Fatal(err)
	}
	drift = s.call("DetectStackDrift", map[string]any{"StackName": "sets"})
	if status := s.call("DescribeStackDriftDetectionStatus", drift); status["StackDriftStatus"] != "DRIFTED" ||
		status["DriftedStackResourceCount"] != 1.0 {
		t.Error(jsonText(status))
	}
}

// settledIn waits like settled, for a status that counts as in progress.
func (s stacks) settledIn(name, status string) (string, string) {
	s.t.Helper()
	st := s.call("DescribeStacks", map[string]any{"StackName": name})["Stacks"].([]any)[0].(map[string]any)
	got, _ := st["StackStatus"].(string)
	return got, status
}

func TestAlarmsUndoADeployment(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	const alarm = "arn:aws:cloudwatch:us-east-1:000000000000:alarm:errors"
	put := func(operation string, in map[string]any) {
		t.Helper()
		if _, err := s.try("cloudwatch", operation, in); err != nil {
			t.Fatal(err)
		}
	}
	watch := func(missing string) {
		t.Helper()
		put("PutMetricAlarm", map[string]any{"AlarmName": "errors", "Namespace": "N", "MetricName": "M", "Statistic": "Sum",
			"Period": 60, "EvaluationPeriods": 1, "Threshold": 1, "ComparisonOperator": "GreaterThanThreshold",
			"TreatMissingData": missing})
	}
	watch("notBreaching")
	request := func(name, value, kind string) map[string]any {
		return map[string]any{"StackName": name,
			"TemplateBody":          "Resources: {A: {Type: AWS::SSM::Parameter, Properties: {Name: /watched, Type: String, Value: '" + value + "'}}}",
			"RollbackConfiguration": map[string]any{"RollbackTriggers": []any{map[string]any{"Arn": alarm, "Type": kind}}}}
	}
	s.call("CreateStack", request("watched", "1", "AWS::CloudWatch::Alarm"))
	if status, reason := s.settled("watched"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason)
	}
	watch("breaching") // otherwise the next evaluation, which may come at once, reverts the state
	put("SetAlarmState", map[string]any{"AlarmName": "errors", "StateValue": "ALARM", "StateReason": "test"})
	s.call("UpdateStack", request("watched", "2", "AWS::CloudWatch::Alarm"))
	if status, _ := s.settled("watched"); status != "UPDATE_ROLLBACK_COMPLETE" ||
		!strings.Contains(s.events("watched"), "the alarm "+alarm+" of the RollbackTriggers is in ALARM") {
		t.Error(status, s.events("watched"))
	}
	if _, err := s.try("cloudformation", "UpdateStack", request("watched", "3", "Another")); err == nil ||
		!strings.Contains(err.Error(), "Rollback Trigger Type not supported") {
		t.Error(err)
	}
}

// After a rollback a state machine has a new revision. As on AWS, its version, which names the revision, is not
// replaced by deployments that change neither.
func TestARevisionAfterARollbackChangesNothing(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	request := func(comment, more string) map[string]any {
		return map[string]any{"StackName": "revised", "TemplateBody": `
Resources:
  Machine:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      RoleArn: arn:aws:iam::000000000000:role/r
      DefinitionString: '{"Comment":"` + comment + `","StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}'
  Version:
    Type: AWS::StepFunctions::StateMachineVersion
    Properties: {StateMachineArn: !Ref Machine, StateMachineRevisionId: !GetAtt Machine.StateMachineRevisionId}
` + more + `
Outputs:
  Revision: {Value: !GetAtt Machine.StateMachineRevisionId}
`}
	}
	version := func() string {
		t.Helper()
		r := s.call("DescribeStackResource", map[string]any{"StackName": "revised", "LogicalResourceId": "Version"})
		return r["StackResourceDetail"].(map[string]any)["PhysicalResourceId"].(string)
	}
	s.call("CreateStack", request("one", ""))
	if status, reason := s.settled("revised"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason)
	}
	first := version()
	s.call("UpdateStack", request("two", "  Broken: {Type: AWS::StepFunctions::StateMachine, DependsOn: Version, "+
		"Properties: {RoleArn: 'arn:aws:iam::000000000000:role/r', DefinitionString: '{}'}}"))
	if status, reason := s.settled("revised"); status != "UPDATE_ROLLBACK_COMPLETE" {
		t.Fatal(status, reason)
	}
	machine := s.call("DescribeStackResource", map[string]any{"StackName": "revised", "LogicalResourceId": "Machine"})
	now, err := s.try("sfn", "DescribeStateMachine", map[string]any{
		"stateMachineArn": machine["StackResourceDetail"].(map[string]any)["PhysicalResourceId"]})
	if err != nil || now["revisionId"] == nil {
		t.Fatalf("the rollback has not given the state machine a revision: %v, %v", now, err)
	}
	set := request("one", "")
	set["ChangeSetName"] = "again"
	s.call("CreateChangeSet", set)
	described := s.call("DescribeChangeSet", map[string]any{"StackName": "revised", "ChangeSetName": "again"})
	if described["Status"] != "FAILED" ||
		!strings.HasPrefix(described["StatusReason"].(string), "The submitted information didn't contain changes.") {
		t.Error(jsonText(described))
	}
	const parameter = "  Other: {Type: AWS::SSM::Parameter, Properties: {Name: /other, Type: String, Value: x}}"
	s.call("UpdateStack", request("one", parameter))
	if status, reason := s.settled("revised"); status != "UPDATE_COMPLETE" || version() != first {
		t.Errorf("%s, %s: the version was %s and is %s", status, reason, first, version())
	}
	s.call("UpdateStack", request("two", parameter))
	if status, reason := s.settled("revised"); status != "UPDATE_COMPLETE" || version() == first {
		t.Errorf("%s, %s: the version is still %s", status, reason, version())
	}
}

func TestWhatOthersHaveMadeIsNotDeletedInARollback(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	if _, err := s.try("ssm", "PutParameter", map[string]any{"Name": "/mine", "Value": "kept", "Type": "String"}); err != nil {
		t.Fatal(err)
	}
	s.call("CreateStack", map[string]any{"StackName": "greedy", "TemplateBody": `
Resources:
  P: {Type: AWS::SSM::Parameter, Properties: {Name: /mine, Type: String, Value: other}}
`})
	if status, _ := s.settled("greedy"); status != "ROLLBACK_COMPLETE" || !strings.Contains(s.events("greedy"), "AlreadyExists") {
		t.Error(status, s.events("greedy"))
	}
	got, err := s.try("ssm", "GetParameter", map[string]any{"Name": "/mine"})
	if err != nil || !strings.Contains(jsonText(got), `"Value":"kept"`) {
		t.Error(got, err)
	}
}

// TestDefinitionsOfStateMachines deploys definitions as AWS's handler reads them: from one of three properties, with
// substitutions of substitutions, JSON or else YAML from S3.
func TestDefinitionsOfStateMachines(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	if _, err := s.try("s3", "CreateBucket", map[string]any{"Bucket": "defs"}); err != nil {
		t.Fatal(err)
	}
	objects := s3.NewFromConfig(s.cfg, func(o *s3.Options) { o.UsePathStyle = true })
	for key, body := range map[string]string{
		"m.json": `{"StartAt":"P","States":{"P":{"Type":"Pass","Result":"${A}","End":true}}}`,
		"noext":  "StartAt: P\nStates:\n  P: {Type: Pass, Result: '${A}', Seconds: x, End: true}\n",
		"y":      "StartAt: P\r\nStates:\r\n  P: {Type: Pass, Result: '${A}', End: true}\r\n",
		"bom":    "\ufeff{\"StartAt\":\"P\",\"States\":{\"P\":{\"Type\":\"Pass\",\"End\":true}}}", "neither": "a: [",
	} {
		if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: awssdk.String("defs"), Key: &key,
			Body: strings.NewReader(body)}); err != nil {
			t.Fatal(err)
		}
	}
	const inS3 = "DefinitionS3Location: {Bucket: defs, Key: %s}, DefinitionSubstitutions: {A: 'x${B}', B: 5}"
	for name, c := range map[string]struct{ properties, want string }{
		"repeated": {strings.ReplaceAll(inS3, "%s", "m.json"), `{"StartAt":"P","States":{"P":{"Type":"Pass","Result":"x5","End":true}}}`},
		"yaml": {strings.ReplaceAll(inS3, "%s", "y"), `{
  "StartAt" : "P",
  "States" : {
    "P" : {
      "Type" : "Pass",
      "Result" : "x5",
      "End" : true
    }
  }
}`},
		"invalid": {strings.ReplaceAll(inS3, "%s", "noext"), "Field 'Seconds' is not supported"},
		"bom":     {"DefinitionS3Location: {Bucket: defs, Key: bom}", `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`},
		"object": {"Definition: {States: {P: {Type: Pass, End: true}}, StartAt: P}",
			"{\n  \"StartAt\" : \"P\",\n  \"States\" : {\n    \"P\" : {\n      \"End\" : true,\n      \"Type\" : \"Pass\"\n    }\n  }\n}"},
		"neither": {"DefinitionS3Location: {Bucket: defs, Key: neither}",
			`Resource handler returned message: "Invalid StateMachine definition." (RequestToken: `},
		"two": {"DefinitionString: '{}', Definition: {StartAt: P}",
			"Please use one of [DefinitionS3Location], [DefinitionString] or [Definition].\" (RequestToken: "},
		"none": {"StateMachineType: STANDARD",
			"Required key [DefinitionS3Location], [DefinitionString] or [Definition] not found.\" (RequestToken: "},
		"list": {"DefinitionString: '{}', DefinitionSubstitutions: {A: [1]}",
			"Invalid definition substitution type. Input should be either String, Integer, or Boolean"},
		"circle": {"DefinitionString: '{\"Comment\": \"${A}\"}', DefinitionSubstitutions: {A: 'x${A}'}",
			`"Internal Failure" (RequestToken: `},
		"yamlstring": {"DefinitionString: 'StartAt: P'", "INVALID_JSON_DESCRIPTION"},
	} {
		s.call("CreateStack", map[string]any{"StackName": name, "TemplateBody": "Resources: {M: {Type: AWS::StepFunctions::StateMachine, Properties: {" +
			"StateMachineName: " + name + ", RoleArn: 'arn:aws:iam::000000000000:role/x', " + c.properties + "}}}"})
		if status, _ := s.settled(name); status == "CREATE_COMPLETE" {
			got, err := s.try("sfn", "DescribeStateMachine", map[string]any{"stateMachineArn": p.Scope.ARN("states", "stateMachine:"+name)})
			if err != nil || got["definition"] != c.want {
				t.Errorf("%s: %v, %v", name, got["definition"], err)
			}
		} else if events := strings.ReplaceAll(s.events(name), `\"`, `"`); !strings.Contains(events, c.want) {
			t.Errorf("%s: %s, not %s", name, status, c.want)
		}
	}
}

func TestReasonsOfRollbacksAreSentences(t *testing.T) {
	t.Parallel()
	s := stacksOf(t, open(t, local.Config{}))
	s.call("CreateStack", map[string]any{"StackName": "s", "TemplateBody": `{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}},
		"Outputs": {"O": {"Value": {"Fn::GetAtt": ["Q", "DelaySeconds"]}}}}`})
	s.settled("s")
	var reasons []string
	for _, e := range s.call("DescribeStackEvents", map[string]any{"StackName": "s"})["StackEvents"].([]any) {
		if e := e.(map[string]any); e["ResourceStatus"] == "ROLLBACK_IN_PROGRESS" {
			reasons = append(reasons, e["ResourceStatusReason"].(string))
		}
	}
	const want = "Template error: resource Q does not support attribute type DelaySeconds in Fn::GetAtt. Rollback requested by user."
	if len(reasons) != 1 || reasons[0] != want {
		t.Errorf("%q, want %q", reasons, want)
	}
}
