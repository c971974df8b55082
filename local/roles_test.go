package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/local"
)

// sameHost keeps a client from adding a prefix to the host.
func sameHost(o *sfn.Options) {
	o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("host", func(ctx context.Context,
			in middleware.InitializeInput,
			next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			return next.HandleInitialize(smithyhttp.SetHostnameImmutable(ctx, true), in)
		}), middleware.Before)
	})
}

// Tasks are authorized by the policies of the state machine's role, and a user who may create state machines can pass
// only a role that she has permission to pass.
func TestStateMachinesActInTheirRoles(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{EnforceIAM: true})
	ctx, root := t.Context(), settings(p)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	people, queues := iam.NewFromConfig(root), sqs.NewFromConfig(root)
	q, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("jobs")})
	must(err)
	role, err := people.CreateRole(
		ctx,
		&iam.CreateRoleInput{RoleName: aws.String("machine"), AssumeRolePolicyDocument: aws.String(
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"states.amazonaws.com"},"Action":"sts:AssumeRole"}]}`,
		)},
	)
	must(err)
	const trusted = "arn:aws:sts::000000000000:assumed-role/machine/StepFunctions"
	run := func(state string) (string, string) {
		t.Helper()
		out, err := sfn.NewFromConfig(root, sameHost).
			TestState(ctx, &sfn.TestStateInput{RoleArn: role.Role.Arn, Definition: &state})
		must(err)
		return aws.ToString(out.Error), aws.ToString(out.Cause)
	}
	expect := func(state, name, cause string) {
		t.Helper()
		if gotName, gotCause := run(state); gotName != name || !strings.HasPrefix(gotCause, cause) {
			t.Errorf("got %q: %q, want %q: %q", gotName, gotCause, name, cause)
		}
	}
	send := `{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage","Parameters":{"QueueUrl":"` + *q.QueueUrl +
		`","MessageBody":"x"},"End":true}`
	const invoke = `{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"},"End":true}`
	const table = `{"Type":"Task","Resource":"arn:aws:states:::aws-sdk:dynamodb:listTables","End":true}`
	const noPolicy = "because no identity-based policy allows the "
	const who = "User: " + trusted + " is not authorized to perform: "
	expect(
		send,
		"SQS.AmazonSQSException",
		who+"sqs:SendMessage on resource: arn:aws:sqs:us-east-1:000000000000:jobs "+noPolicy+
			"sqs:SendMessage action",
	)
	expect(
		table,
		"DynamoDb.DynamoDbException",
		who+"dynamodb:ListTables on resource: * "+noPolicy+"dynamodb:ListTables action",
	)
	expect(invoke, "Lambda.AWSLambdaException", who+"lambda:InvokeFunction on resource: "+
		"arn:aws:lambda:us-east-1:000000000000:function:f "+noPolicy+"lambda:InvokeFunction action (Service: AWSLambda; "+
		"Status Code: 403; Error Code: AccessDeniedException; Request ID: ")
	_, err = people.PutRolePolicy(
		ctx,
		&iam.PutRolePolicyInput{RoleName: aws.String("machine"), PolicyName: aws.String("p"),
			PolicyDocument: aws.String(
				`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sqs:SendMessage",` +
					`"lambda:InvokeFunction"],"Resource":"*"}]}`,
			)},
	)
	must(err)
	expect(send, "", "")
	expect(invoke, "Lambda.ResourceNotFoundException", "Function not found: ")

	_, err = people.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("ann")})
	must(err)
	key, err := people.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: aws.String("ann")})
	must(err)
	her := root.Copy()
	her.Credentials = credentials.NewStaticCredentialsProvider(
		*key.AccessKey.AccessKeyId,
		*key.AccessKey.SecretAccessKey,
		"",
	)
	allow := func(statement string) {
		t.Helper()
		_, err := people.PutUserPolicy(
			ctx,
			&iam.PutUserPolicyInput{UserName: aws.String("ann"), PolicyName: aws.String("p"),
				PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[` + statement + `]}`)},
		)
		must(err)
	}
	create := func() error {
		_, err := sfn.NewFromConfig(her).CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("m"),
			RoleArn: role.Role.Arn, Definition: aws.String(`{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}`)})
		return err
	}
	const make = `{"Effect":"Allow","Action":"states:*","Resource":"*"}`
	allow(make)
	var refused smithy.APIError
	if err := create(); !errors.As(err, &refused) || refused.ErrorCode() != "AccessDeniedException" ||
		refused.ErrorMessage() != "User: arn:aws:iam::000000000000:user/ann is not authorized to perform: iam:PassRole on resource: "+
			*role.Role.Arn+" because no identity-based policy allows the iam:PassRole action" {
		t.Errorf("without iam:PassRole: %v", err)
	}
	pass := func(to string) string {
		return make + `,{"Effect":"Allow","Action":"iam:PassRole","Resource":"*","Condition":{"StringEquals":{"iam:PassedToService":"` +
			to + `"}}}`
	}
	allow(pass("lambda.amazonaws.com"))
	if err := create(); !errors.As(err, &refused) {
		t.Errorf("passed to another service: %v", err)
	}
	allow(pass("states.amazonaws.com"))
	must(create())
}
