package resource_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/local/services/cloudformation/resource"
)

// recorder records calls and answers them from a table.
type recorder struct {
	calls   []string
	answers map[string]string
}

// Call implements resource.API.
func (r *recorder) Call(_ context.Context, service, operation string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r.calls = append(r.calls, service+":"+operation+" "+string(text))
	if s, err := model.Find(service); err != nil {
		return err
	} else if _, err := s.Operation(operation); err != nil {
		return err
	}
	if answer, ok := r.answers[operation]; ok && out != nil {
		return json.Unmarshal([]byte(answer), out)
	}
	return nil
}

func properties(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCallsOfCreations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		properties string
		answers    map[string]string
		want, id   string
	}{
		"AWS::SQS::Queue": {`{"FifoQueue":true,"RedrivePolicy":{"maxReceiveCount":3}}`, map[string]string{"CreateQueue": `{"QueueUrl":"http://h/1/q.fifo"}`},
			`sqs:CreateQueue {"Attributes":{"FifoQueue":"true","RedrivePolicy":"{\"maxReceiveCount\":3}"},"QueueName":"stack-One-ABC.fifo","tags":{"Of":"stack"}}`, "http://h/1/q.fifo"},
		"AWS::IAM::Role": {`{"AssumeRolePolicyDocument":{"Statement":[]},"ManagedPolicyArns":["arn:p"],"Policies":[{"PolicyName":"p","PolicyDocument":{}}]}`,
			map[string]string{"CreateRole": `{"Role":{"Arn":"arn:r","RoleId":"AROA"}}`},
			`iam:CreateRole {"AssumeRolePolicyDocument":"{\"Statement\":[]}","RoleName":"stack-One-ABC","Tags":[{"Key":"Of","Value":"stack"}]}` + "\n" +
				`iam:AttachRolePolicy {"PolicyArn":"arn:p","RoleName":"stack-One-ABC"}` + "\n" +
				`iam:PutRolePolicy {"PolicyDocument":"{}","PolicyName":"p","RoleName":"stack-One-ABC"}`, "stack-One-ABC"},
		"AWS::Events::Rule": {`{"EventPattern":{"source":["a"]},"Targets":[{"Id":"t","Arn":"arn:x"}]}`, map[string]string{"PutRule": `{"RuleArn":"arn:rule"}`},
			`eventbridge:PutRule {"EventPattern":"{\"source\":[\"a\"]}","Name":"stack-One-ABC","Tags":[{"Key":"Of","Value":"stack"}]}` + "\n" +
				`eventbridge:PutTargets {"Rule":"stack-One-ABC","Targets":[{"Arn":"arn:x","Id":"t"}]}`, "stack-One-ABC"},
		"AWS::CloudWatch::Alarm": {`{"AlarmName":"a","ComparisonOperator":"GreaterThanThreshold","EvaluationPeriods":1}`, nil,
			`cloudwatch:PutMetricAlarm {"AlarmName":"a","ComparisonOperator":"GreaterThanThreshold","EvaluationPeriods":1,"Tags":[{"Key":"Of","Value":"stack"}]}`, "a"},
		"AWS::Lambda::Permission": {`{"Action":"lambda:InvokeFunction","FunctionName":"f","Principal":"s3.amazonaws.com"}`, nil,
			`lambda:AddPermission {"Action":"lambda:InvokeFunction","FunctionName":"f","Principal":"s3.amazonaws.com","StatementId":"stack-One-ABC"}`, "stack-One-ABC"},
		"AWS::Logs::SubscriptionFilter": {`{"LogGroupName":"g","FilterPattern":"","DestinationArn":"arn:f"}`, nil,
			`cloudwatchlogs:PutSubscriptionFilter {"DestinationArn":"arn:f","FilterName":"stack-One-ABC","FilterPattern":"","LogGroupName":"g"}`, "stack-One-ABC"},
	} {
		typ := resource.All()[name]
		api := &recorder{answers: c.answers}
		p := properties(t, c.properties)
		if err := typ.Check("One", p); err != nil {
			t.Error(err)
		}
		state, err := typ.Create(t.Context(), &resource.Request{API: api, Scope: aws.Scope{Account: "1", Region: "us-east-1"},
			Stack: "stack", LogicalID: "One", Suffix: "ABC", Type: name, Properties: p, Tags: map[string]string{"Of": "stack"}})
		if got := strings.Join(api.calls, "\n"); err != nil || got != c.want || state.ID != c.id {
			t.Errorf("%s: %v, %s\ngot  %s\nwant %s", name, err, state.ID, got, c.want)
		}
	}
}

func TestLifecycleRulesOfS3(t *testing.T) {
	t.Parallel()
	api := &recorder{}
	typ := resource.All()["AWS::S3::Bucket"]
	p := properties(t, `{"BucketName":"b","LifecycleConfiguration":{"Rules":[{"Id":"r","Status":"Enabled","ExpirationInDays":7,"Prefix":"in/"}]}}`)
	_, err := typ.Update(t.Context(), &resource.Request{API: api, Scope: aws.Scope{Account: "1", Region: "us-east-1"}, ID: "b",
		Properties: p, Previous: map[string]any{}})
	want := `s3:PutBucketLifecycleConfiguration {"Bucket":"b","LifecycleConfiguration":{"Rules":[{"Expiration":{"Days":7},"Filter":{"Prefix":"in/"},"ID":"r","Status":"Enabled"}]}}`
	if err != nil || len(api.calls) != 1 || api.calls[0] != want {
		t.Errorf("%v, %s", err, api.calls)
	}
	p["LifecycleConfiguration"].(map[string]any)["Rules"].([]any)[0].(map[string]any)["Colour"] = "red"
	_, err = typ.Update(t.Context(), &resource.Request{API: api, ID: "b", Properties: p, Previous: map[string]any{}})
	var wrong *resource.PropertyError
	if !errors.As(err, &wrong) || wrong.Problems[0] != "#/LifecycleConfiguration/Rules: extraneous key [Colour] is not permitted" {
		t.Error(err)
	}
}

func TestBlockedEncryptionTypesOfS3(t *testing.T) {
	t.Parallel()
	api := &recorder{}
	p := properties(t, `{"BucketName":"b","BucketEncryption":{"ServerSideEncryptionConfiguration":[{"BlockedEncryptionTypes":{"EncryptionType":["NONE"]}}]}}`)
	_, err := resource.All()["AWS::S3::Bucket"].Update(t.Context(), &resource.Request{API: api,
		Scope: aws.Scope{Account: "1", Region: "us-east-1"}, ID: "b", Properties: p, Previous: map[string]any{}})
	want := `s3:PutBucketEncryption {"Bucket":"b","ServerSideEncryptionConfiguration":{"Rules":[{"BlockedEncryptionTypes":{"EncryptionType":["NONE"]}}]}}`
	if err != nil || len(api.calls) != 1 || api.calls[0] != want {
		t.Errorf("%v, %s", err, api.calls)
	}
}

func TestUnknownPropertiesAreRefusedByName(t *testing.T) {
	t.Parallel()
	for name, typ := range resource.All() {
		err := typ.Check("X", map[string]any{"Colour": "red"})
		if err == nil || !strings.Contains(err.Error(), "extraneous key [Colour] is not permitted") {
			t.Errorf("%s: %v", name, err)
		}
		if typ.Create == nil || typ.Delete == nil {
			t.Errorf("%s cannot be made or deleted", name)
		}
	}
}

// TestGradualDeploymentOfAnAlias: an alias is shifted from the version that it points at. If an alarm fires meanwhile,
// it points at that version again; the rollback of the stack then finds nothing to shift, although the alarm still
// fires.
func TestGradualDeploymentOfAnAlias(t *testing.T) {
	t.Parallel()
	const (
		to       = `sfn:UpdateStateMachineAlias {"routingConfiguration":[{"StateMachineVersionArn":"arn:m:2","Weight":"100"}],"stateMachineAliasArn":"arn:m:live"}`
		back     = `sfn:UpdateStateMachineAlias {"routingConfiguration":[{"StateMachineVersionArn":"arn:m:1","Weight":"100"}],"stateMachineAliasArn":"arn:m:live"}`
		canary   = `sfn:UpdateStateMachineAlias {"routingConfiguration":[{"StateMachineVersionArn":"arn:m:2","Weight":"20"},{"StateMachineVersionArn":"arn:m:1","Weight":"80"}],"stateMachineAliasArn":"arn:m:live"}`
		describe = `sfn:DescribeStateMachineAlias {"stateMachineAliasArn":"arn:m:live"}`
		watch    = `cloudwatch:DescribeAlarms {"AlarmNames":["a"],"AlarmTypes":["MetricAlarm","CompositeAlarm"]}`
	)
	one := `{"routingConfiguration":[{"stateMachineVersionArn":"arn:m:1","weight":100}]}`
	both := `{"routingConfiguration":[{"stateMachineVersionArn":"arn:m:2","weight":20},{"stateMachineVersionArn":"arn:m:1","weight":80}]}`
	for name, c := range map[string]struct {
		next, pointsAt, alarm string
		givenUp               bool
		want                  []string
		err                   string
	}{
		"shifted":                      {"arn:m:2", one, "OK", false, []string{describe, canary, watch, watch, watch, watch, watch, watch, to}, ""},
		"resumed after a crash":        {"arn:m:2", both, "OK", false, []string{describe, canary, watch, watch, watch, watch, watch, watch, to}, ""},
		"an alarm fires":               {"arn:m:2", one, "ALARM", false, []string{describe, canary, watch, back}, "the alarm a went off during the deployment"},
		"the deployment is given up":   {"arn:m:2", one, "OK", true, []string{describe, canary, back}, "given up"},
		"the rollback, while it fires": {"arn:m:1", one, "ALARM", false, []string{describe, back}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &recorder{answers: map[string]string{"DescribeStateMachineAlias": c.pointsAt,
				"DescribeAlarms": `{"MetricAlarms":[{"AlarmName":"a","StateValue":"` + c.alarm + `"}]}`}}
			preference := func(version string) map[string]any {
				return properties(t, `{"DeploymentPreference":{"StateMachineVersionArn":"`+version+
					`","Type":"CANARY","Percentage":"20","Interval":"1","Alarms":["a"]}}`)
			}
			previous := "arn:m:1"
			if c.next == previous {
				previous = "arn:m:2"
			}
			r := &resource.Request{API: api, Type: "AWS::StepFunctions::StateMachineAlias", ID: "arn:m:live",
				Properties: preference(c.next), Previous: preference(previous),
				Wait: func(context.Context, time.Duration) error {
					if c.givenUp {
						return errors.New("given up")
					}
					return nil
				}}
			_, err := resource.All()[r.Type].Update(t.Context(), r)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if got, want := strings.Join(api.calls, "\n"), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
