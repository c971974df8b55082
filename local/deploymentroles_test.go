package local_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	saws "stepback/aws"
	"stepback/local"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/lambda/functions"
)

// With the policies that CDK writes for it, a user can do everything that deployments and workers need. This covers
// AWS's own read-only policies, conditions on the resource's account, queues that refuse plain HTTP, and reports with
// task tokens.
func TestWhatDeploymentsAndWorkersNeed(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{EnforceIAM: true})
	ctx, root := t.Context(), settings(p)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	people := iam.NewFromConfig(root)
	_, err := people.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("eve")})
	must(err)
	key, err := people.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: aws.String("eve")})
	must(err)
	her := root.Copy()
	her.Credentials = credentials.NewStaticCredentialsProvider(*key.AccessKey.AccessKeyId, *key.AccessKey.SecretAccessKey, "")
	may := func(statements string) {
		t.Helper()
		_, err := people.PutUserPolicy(ctx, &iam.PutUserPolicyInput{UserName: aws.String("eve"), PolicyName: aws.String("p"),
			PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[` + statements + `]}`)})
		must(err)
	}
	denied := func(err error, message string) {
		t.Helper()
		var e smithy.APIError
		if !errors.As(err, &e) || !strings.HasPrefix(e.ErrorCode(), "AccessDenied") ||
			!strings.HasPrefix(e.ErrorMessage(), "User: arn:aws:iam::000000000000:user/eve is not authorized to perform: "+message) {
			t.Errorf("got %v, want the refusal of %s", err, message)
		}
	}

	caller := &resource.Caller{Endpoint: p.Endpoint, Scope: saws.Scope{Account: "000000000000", Region: "us-east-1"},
		AccessKey: *key.AccessKey.AccessKeyId}
	call := func(service, operation string, in map[string]any) error {
		return caller.Call(ctx, service, operation, in, nil)
	}

	// Log groups have no resource policies: the user's own policy is enough.
	group := map[string]any{"logGroupName": "g"}
	denied(call("cloudwatchlogs", "CreateLogGroup", group), "logs:CreateLogGroup on resource: arn:aws:logs:us-east-1:000000000000:log-group:g ")
	may(`{"Effect":"Allow","Action":"logs:CreateLogGroup","Resource":"*","Condition":{"StringEquals":{"aws:ResourceAccount":"111111111111"}}}`)
	denied(call("cloudwatchlogs", "CreateLogGroup", group), "logs:CreateLogGroup on ")
	may(`{"Effect":"Allow","Action":"logs:CreateLogGroup","Resource":"*","Condition":{"StringEquals":{"aws:ResourceAccount":"000000000000"}}}`)
	must(call("cloudwatchlogs", "CreateLogGroup", group))

	// A queue that refuses plain HTTP.
	q, err := sqs.NewFromConfig(root).CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("jobs"), Attributes: map[string]string{
		"Policy": `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"sqs:*","Resource":"*",` +
			`"Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`}})
	must(err)
	may(`{"Effect":"Allow","Action":"sqs:SendMessage","Resource":"*"}`)
	_, err = sqs.NewFromConfig(her).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: aws.String("x")})
	must(err)

	// API Gateway's actions are the HTTP methods.
	api := map[string]any{"Name": "a", "ProtocolType": "HTTP"}
	denied(call("apigatewayv2", "CreateApi", api), "apigateway:POST on resource: arn:aws:apigateway:us-east-1::/apis ")
	may(`{"Effect":"Allow","Action":"apigateway:POST","Resource":"arn:aws:apigateway:us-east-1::/apis"}`)
	must(call("apigatewayv2", "CreateApi", api))
	denied(call("apigatewayv2", "GetApis", nil), "apigateway:GET on resource: arn:aws:apigateway:us-east-1::/apis ")

	// AWS's own read-only policies.
	_, err = people.AttachUserPolicy(ctx, &iam.AttachUserPolicyInput{UserName: aws.String("eve"),
		PolicyArn: aws.String("arn:aws:iam::aws:policy/ReadOnlyAccess")})
	must(err)
	must(call("apigatewayv2", "GetApis", nil))
	must(call("cloudformation", "ListStacks", nil))
	denied(call("ssm", "PutParameter", map[string]any{"Name": "n", "Value": "v", "Type": "String"}), "ssm:PutParameter on resource: arn:aws:ssm:us-east-1:000000000000:parameter/n ")

	// Reports with task tokens are authorized at the state machine, or at an activity.
	_, err = people.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("machine"), AssumeRolePolicyDocument: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"states.amazonaws.com"},"Action":"sts:AssumeRole"}]}`)})
	must(err)
	_, err = people.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String("machine"), PolicyName: aws.String("p"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sqs:*","Resource":"*"}]}`)})
	must(err)
	machines := sfn.NewFromConfig(root, sameHost)
	m, err := machines.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("m"),
		RoleArn: aws.String("arn:aws:iam::000000000000:role/machine"), Definition: aws.String(
			`{"StartAt":"Ask","States":{"Ask":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken",` +
				`"Parameters":{"QueueUrl":"` + *q.QueueUrl + `","MessageBody":{"token.$":"$$.Task.Token"}},"End":true}}}`)})
	must(err)
	_, err = sqs.NewFromConfig(root).PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: q.QueueUrl})
	must(err)
	for _, resource := range []string{*m.StateMachineArn, "arn:aws:states:us-east-1:000000000000:activity:work"} {
		x, err := machines.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn})
		must(err)
		got, err := sqs.NewFromConfig(root).ReceiveMessage(ctx,
			&sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl, WaitTimeSeconds: 20})
		must(err)
		var asked struct {
			Token string `json:"token"`
		}
		must(json.Unmarshal([]byte(*got.Messages[0].Body), &asked))
		report := &sfn.SendTaskSuccessInput{TaskToken: &asked.Token, Output: aws.String("1")}
		may(`{"Effect":"Allow","Action":"states:SendTaskSuccess","Resource":"arn:aws:states:us-east-1:000000000000:stateMachine:other"}`)
		_, err = sfn.NewFromConfig(her).SendTaskSuccess(ctx, report)
		denied(err, "states:SendTaskSuccess on resource: "+*m.StateMachineArn+" ")
		_, err = machines.CreateActivity(ctx, &sfn.CreateActivityInput{Name: aws.String("work")})
		must(err)
		may(`{"Effect":"Allow","Action":"states:SendTaskSuccess","Resource":"` + resource + `"}`)
		_, err = sfn.NewFromConfig(her).SendTaskSuccess(ctx, report)
		must(err)
		e, err := p.Engine()
		must(err)
		must(e.Await(ctx, *x.ExecutionArn))
		d, err := machines.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: x.ExecutionArn})
		must(err)
		if aws.ToString(d.Output) != "1" {
			t.Errorf("the execution is %s with the output %q, want 1", d.Status, aws.ToString(d.Output))
		}
	}
	may(`{"Effect":"Allow","Action":"sqs:*","Resource":"*"}`)
	_, err = sfn.NewFromConfig(her).SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: aws.String("no token")})
	denied(err, "states:SendTaskHeartbeat on resource: * ")
}

// An event source mapping is refused if the function's role may not read the source.
func TestFunctionsReadSourcesInTheirRoles(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	p := open(t, local.Config{EnforceIAM: true, BuiltIn: map[string]functions.BuiltIn{"f": func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: func(in struct {
			Records []struct {
				Body string `json:"body"`
			}
		}) {
			got <- in.Records[0].Body
		}}, nil
	}}})
	ctx := t.Context()
	if err := p.Functions.PutLocal(ctx, p.Scope, &functions.LocalInput{Name: "f", BuiltIn: "f",
		Role: "arn:aws:iam::000000000000:role/f"}); err != nil {
		t.Fatal(err)
	}
	caller := &resource.Caller{Endpoint: p.Endpoint, Scope: saws.Scope{Account: "000000000000", Region: "us-east-1"}}
	call := func(service, operation string, in map[string]any) map[string]any {
		t.Helper()
		out := map[string]any{}
		if err := caller.Call(ctx, service, operation, in, &out); err != nil {
			t.Fatal(operation, err)
		}
		return out
	}
	call("iam", "CreateRole", map[string]any{"RoleName": "f", "AssumeRolePolicyDocument": `{"Version":"2012-10-17","Statement":` +
		`[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}`})
	may := func(action string) {
		t.Helper()
		call("iam", "PutRolePolicy", map[string]any{"RoleName": "f", "PolicyName": "p", "PolicyDocument": `{"Version":"2012-10-17",` +
			`"Statement":[{"Effect":"Allow","Action":"` + action + `","Resource":"*"}]}`})
	}
	url := call("sqs", "CreateQueue", map[string]any{"QueueName": "jobs"})["QueueUrl"]
	call("dynamodb", "CreateTable", map[string]any{"TableName": "table", "BillingMode": "PAY_PER_REQUEST",
		"KeySchema":            []any{map[string]any{"AttributeName": "k", "KeyType": "HASH"}},
		"AttributeDefinitions": []any{map[string]any{"AttributeName": "k", "AttributeType": "S"}},
		"StreamSpecification":  map[string]any{"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"}})
	table := call("dynamodb", "DescribeTable", map[string]any{"TableName": "table"})["Table"].(map[string]any)
	mapping := map[string]any{"FunctionName": "f", "EventSourceArn": "arn:aws:sqs:us-east-1:000000000000:jobs"}
	refused := func(in map[string]any, message string) {
		t.Helper()
		err := caller.Call(ctx, "lambda", "CreateEventSourceMapping", in, nil)
		var e smithy.APIError
		if !errors.As(err, &e) || e.ErrorCode() != "InvalidParameterValueException" || e.ErrorMessage() != message {
			t.Errorf("got %v, want %s", err, message)
		}
	}
	may("sns:*")
	refused(mapping, "The provided execution role does not have permissions to call ReceiveMessage on SQS")
	stream := table["LatestStreamArn"].(string)
	refused(map[string]any{"FunctionName": "f", "EventSourceArn": stream, "StartingPosition": "LATEST"}, "Cannot access stream "+stream+
		". Please ensure the role can perform the GetRecords, GetShardIterator, DescribeStream, and ListStreams Actions on your stream in IAM.")
	may("sqs:*")
	call("lambda", "CreateEventSourceMapping", mapping)
	call("sqs", "SendMessage", map[string]any{"QueueUrl": url, "MessageBody": "hello"})
	if text := <-got; text != "hello" {
		t.Errorf("the function got %q", text)
	}
}
