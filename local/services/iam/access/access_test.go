package access_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/iam/access"
)

func TestOf(t *testing.T) {
	t.Parallel()
	scope := aws.Scope{Account: "111111111111", Region: "eu-west-1"}
	for _, c := range []struct{ model, operation, input, want string }{
		{"sqs", "SendMessageBatch", `{"QueueUrl":"http://localhost/222222222222/jobs"}`, "[{sqs:SendMessage arn:aws:sqs:eu-west-1:222222222222:jobs}]"},
		{"sqs", "CreateQueue", `{"QueueName":"jobs"}`, "[{sqs:CreateQueue arn:aws:sqs:eu-west-1:111111111111:jobs}]"},
		{"sqs", "ListQueues", `{}`, "[{sqs:ListQueues *}]"},
		{"sns", "Publish", `{"TopicArn":"arn:aws:sns:eu-west-1:111111111111:t"}`, "[{sns:Publish arn:aws:sns:eu-west-1:111111111111:t}]"},
		{"sns", "Unsubscribe", `{"SubscriptionArn":"arn:aws:sns:eu-west-1:111111111111:t:id"}`, "[{sns:Unsubscribe arn:aws:sns:eu-west-1:111111111111:t}]"},
		{"lambda", "Invoke", `{"FunctionName":"f","Qualifier":"live"}`, "[{lambda:InvokeFunction arn:aws:lambda:eu-west-1:111111111111:function:f:live}]"},
		{"lambda", "CheckpointDurableExecution", `{"DurableExecutionArn":"arn:aws:lambda:eu-west-1:111111111111:function:f:1/durable-execution/n/i"}`, "[{lambda:CheckpointDurableExecution arn:aws:lambda:eu-west-1:111111111111:function:f:1/durable-execution/n/i}]"},
		{"lambda", "SendDurableExecutionCallbackSuccess", `{"CallbackId":"YXJuAG9wAG1hYw=="}`, "[{lambda:SendDurableExecutionCallbackSuccess arn}]"},
		{"lambda", "GetFunction", `{"FunctionName":"111111111111:function:f"}`, "[{lambda:GetFunction arn:aws:lambda:eu-west-1:111111111111:function:f}]"},
		{"sfn", "StartExecution", `{"stateMachineArn":"arn:aws:states:eu-west-1:111111111111:stateMachine:m"}`, "[{states:StartExecution arn:aws:states:eu-west-1:111111111111:stateMachine:m}]"},
		{"sfn", "CreateStateMachine", `{"name":"m"}`, "[{states:CreateStateMachine arn:aws:states:eu-west-1:111111111111:stateMachine:m}]"},
		{"sfn", "CreateStateMachine", `{"name":"m","roleArn":"arn:aws:iam::111111111111:role/r"}`, "[{states:CreateStateMachine arn:aws:states:eu-west-1:111111111111:stateMachine:m} {iam:PassRole arn:aws:iam::111111111111:role/r}]"},
		{"sfn", "UpdateStateMachine", `{"stateMachineArn":"arn:aws:states:eu-west-1:111111111111:stateMachine:m","publish":true}`, "[{states:UpdateStateMachine arn:aws:states:eu-west-1:111111111111:stateMachine:m} {states:PublishStateMachineVersion arn:aws:states:eu-west-1:111111111111:stateMachine:m}]"},
		{"lambda", "CreateFunction", `{"FunctionName":"f","Role":"arn:aws:iam::111111111111:role/r"}`, "[{lambda:CreateFunction arn:aws:lambda:eu-west-1:111111111111:function:f} {iam:PassRole arn:aws:iam::111111111111:role/r}]"},
		{"iam", "AddRoleToInstanceProfile", `{"InstanceProfileName":"p","RoleName":"r"}`, "[{iam:AddRoleToInstanceProfile arn:aws:iam::111111111111:instance-profile/p} {iam:PassRole arn:aws:iam::111111111111:role/r}]"},
		{"apigatewayv2", "CreateIntegration", `{"ApiId":"a","CredentialsArn":"arn:aws:iam::111111111111:role/r"}`, "[{apigateway:CreateIntegration *} {iam:PassRole arn:aws:iam::111111111111:role/r}]"},
		{"cloudcontrol", "CreateResource", `{"TypeName":"AWS::SQS::Queue","RoleArn":"arn:aws:iam::111111111111:role/r"}`, "[{cloudformation:CreateResource *} {iam:PassRole arn:aws:iam::111111111111:role/r}]"},
		{"scheduler", "CreateSchedule", `{"Name":"s","Target":{"RoleArn":"arn:aws:iam::111111111111:role/r"}}`, "[{scheduler:CreateSchedule arn:aws:scheduler:eu-west-1:111111111111:schedule/default/s} {iam:PassRole arn:aws:iam::111111111111:role/r}]"},
		{"eventbridge", "PutTargets", `{"Rule":"r","Targets":[{"Id":"a","RoleArn":"arn:aws:iam::111111111111:role/r"},{"Id":"b","RoleArn":"arn:aws:iam::111111111111:role/r"},{"Id":"c"}]}`, "[{events:PutTargets arn:aws:events:eu-west-1:111111111111:rule/r} {iam:PassRole arn:aws:iam::111111111111:role/r}]"},
		{"dynamodb", "Query", `{"TableName":"t","IndexName":"i"}`, "[{dynamodb:Query arn:aws:dynamodb:eu-west-1:111111111111:table/t/index/i}]"},
		{"dynamodb", "BatchGetItem", `{"RequestItems":{"a":{},"b":{}}}`, "[{dynamodb:BatchGetItem arn:aws:dynamodb:eu-west-1:111111111111:table/a} {dynamodb:BatchGetItem arn:aws:dynamodb:eu-west-1:111111111111:table/b}]"},
		{"dynamodb", "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"a"}},{"ConditionCheck":{"TableName":"b"}}]}`, "[{dynamodb:PutItem arn:aws:dynamodb:eu-west-1:111111111111:table/a} {dynamodb:ConditionCheckItem arn:aws:dynamodb:eu-west-1:111111111111:table/b}]"},
		{"dynamodb", "ExecuteStatement", `{"Statement":"select a, b FROM \"t\" WHERE x = 1"}`, "[{dynamodb:PartiQLSelect arn:aws:dynamodb:eu-west-1:111111111111:table/t}]"},
		{"dynamodb", "BatchExecuteStatement", `{"Statements":[{"Statement":"UPDATE t SET a = 1"},{"Statement":"INSERT INTO u VALUE {}"}]}`, "[{dynamodb:PartiQLUpdate arn:aws:dynamodb:eu-west-1:111111111111:table/t} {dynamodb:PartiQLInsert arn:aws:dynamodb:eu-west-1:111111111111:table/u}]"},
		{"cloudwatchlogs", "StartLiveTail", `{"logGroupIdentifiers":["arn:aws:logs:eu-west-1:111111111111:log-group:/g","arn:aws:logs:eu-west-1:111111111111:log-group:/h:*"]}`, "[{logs:StartLiveTail arn:aws:logs:eu-west-1:111111111111:log-group:/g} {logs:StartLiveTail arn:aws:logs:eu-west-1:111111111111:log-group:/h}]"},
		{"cloudwatchlogs", "PutLogEvents", `{"logGroupName":"/g","logStreamName":"s"}`, "[{logs:PutLogEvents arn:aws:logs:eu-west-1:111111111111:log-group:/g:log-stream:s}]"},
		{"eventbridge", "PutEvents", `{"Entries":[{},{"EventBusName":"b"},{}]}`, "[{events:PutEvents arn:aws:events:eu-west-1:111111111111:event-bus/default} {events:PutEvents arn:aws:events:eu-west-1:111111111111:event-bus/b}]"},
		{"eventbridge", "PutTargets", `{"Rule":"r","EventBusName":"b"}`, "[{events:PutTargets arn:aws:events:eu-west-1:111111111111:rule/b/r}]"},
		{"kms", "Decrypt", `{"KeyId":"alias/a"}`, "[{kms:Decrypt arn:aws:kms:eu-west-1:111111111111:alias/a}]"},
		{"secretsmanager", "GetSecretValue", `{"SecretId":"db"}`, "[{secretsmanager:GetSecretValue arn:aws:secretsmanager:eu-west-1:111111111111:secret:db}]"},
		{"ssm", "GetParameters", `{"Names":["/a/b","c"]}`, "[{ssm:GetParameters arn:aws:ssm:eu-west-1:111111111111:parameter/a/b} {ssm:GetParameters arn:aws:ssm:eu-west-1:111111111111:parameter/c}]"},
		{"iam", "AttachRolePolicy", `{"RoleName":"r","PolicyArn":"arn:aws:iam::aws:policy/x"}`, "[{iam:AttachRolePolicy arn:aws:iam::111111111111:role/r}]"},
		{"iam", "AddUserToGroup", `{"UserName":"u","GroupName":"g"}`, "[{iam:AddUserToGroup arn:aws:iam::111111111111:group/g}]"},
		{"sts", "AssumeRole", `{"RoleArn":"arn:aws:iam::111111111111:role/r"}`, "[{sts:AssumeRole arn:aws:iam::111111111111:role/r}]"},
		{"cloudformation", "DescribeStacks", `{"StackName":"s"}`, "[{cloudformation:DescribeStacks arn:aws:cloudformation:eu-west-1:111111111111:stack/s/*}]"},
		{"cloudwatch", "PutMetricData", `{"Namespace":"n"}`, "[{cloudwatch:PutMetricData *}]"},
		{"cloudcontrol", "ListResources", `{"TypeName":"AWS::SQS::Queue"}`, "[{cloudformation:ListResources *}]"},
	} {
		in, err := jsonvalue.Parse(c.input)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(access.Of(c.model, c.operation, in, scope)); got != c.want {
			t.Errorf("%s %s %s:\n got %s\nwant %s", c.model, c.operation, c.input, got, c.want)
		}
	}
}

func TestUnqualified(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string][2]string{
		"arn:aws:states:eu-west-1:111111111111:stateMachine:m":          {"arn:aws:states:eu-west-1:111111111111:stateMachine:m", ""},
		"arn:aws:states:eu-west-1:111111111111:stateMachine:m:live":     {"arn:aws:states:eu-west-1:111111111111:stateMachine:m", "live"},
		"arn:aws:states:eu-west-1:111111111111:stateMachine:m:3":        {"arn:aws:states:eu-west-1:111111111111:stateMachine:m", "3"},
		"arn:aws:states:eu-west-1:111111111111:execution:m:e":           {"arn:aws:states:eu-west-1:111111111111:execution:m:e", ""},
		"arn:aws:lambda:eu-west-1:111111111111:function:stateMachine:x": {"arn:aws:lambda:eu-west-1:111111111111:function:stateMachine:x", ""},
		"*": {"*", ""},
	} {
		if machine, qualifier := access.Unqualified(resource); [2]string{machine, qualifier} != want {
			t.Errorf("%s: %s, %s, want %v", resource, machine, qualifier, want)
		}
	}
}

func TestOfGateway(t *testing.T) {
	t.Parallel()
	got := access.OfGateway("PATCH", "/v2/apis/a1/routes/r1", aws.Scope{Account: "111111111111", Region: "eu-west-1"})
	if want := (access.Need{"apigateway:PATCH", "arn:aws:apigateway:eu-west-1::/apis/a1/routes/r1"}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestOfS3(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"GET /":                  "[{s3:ListAllMyBuckets *}]",
		"GET /b?list-type=2":     "[{s3:ListBucket arn:aws:s3:::b}]",
		"HEAD /b":                "[{s3:ListBucket arn:aws:s3:::b}]",
		"PUT /b":                 "[{s3:CreateBucket arn:aws:s3:::b}]",
		"DELETE /b":              "[{s3:DeleteBucket arn:aws:s3:::b}]",
		"GET /b?policy":          "[{s3:GetBucketPolicy arn:aws:s3:::b}]",
		"DELETE /b?cors":         "[{s3:PutBucketCORS arn:aws:s3:::b}]",
		"GET /b/a/k":             "[{s3:GetObject arn:aws:s3:::b/a/k}]",
		"GET /b/k?versionId=1":   "[{s3:GetObjectVersion arn:aws:s3:::b/k}]",
		"HEAD /b/k":              "[{s3:GetObject arn:aws:s3:::b/k}]",
		"PUT /b/k":               "[{s3:PutObject arn:aws:s3:::b/k}]",
		"PUT /b/k?tagging":       "[{s3:PutObjectTagging arn:aws:s3:::b/k}]",
		"POST /b/k?uploads":      "[{s3:PutObject arn:aws:s3:::b/k}]",
		"DELETE /b/k?uploadId=1": "[{s3:AbortMultipartUpload arn:aws:s3:::b/k}]",
		"POST /b?delete":         "[{s3:DeleteObject arn:aws:s3:::b/*}]",
		"PUT /b/k copy":          "[{s3:PutObject arn:aws:s3:::b/k}]",
	} {
		var method, path, source string
		_, _ = fmt.Sscan(request, &method, &path, &source)
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		if source != "" {
			r.Header.Set("X-Amz-Copy-Source", "/from/x")
		}
		if got := fmt.Sprint(access.OfS3(r)); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}
