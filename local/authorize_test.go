package local_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"stepback/local"
)

// TestPoliciesAreEnforced sends requests that the policies of an IAM user and of a role session allow and deny.
func TestPoliciesAreEnforced(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{EnforceIAM: true})
	ctx, root := t.Context(), settings(p)
	as := func(key, secret, token string) aws.Config {
		c := root.Copy()
		c.Credentials = credentials.NewStaticCredentialsProvider(key, secret, token)
		return c
	}
	denied := func(err error, code, message string) {
		t.Helper()
		var e smithy.APIError
		if !errors.As(err, &e) || e.ErrorCode() != code || e.ErrorMessage() != message {
			t.Errorf("got %v, want %s: %s", err, code, message)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const account, ann = "000000000000", "arn:aws:iam::000000000000:user/ann"
	people, queues := iam.NewFromConfig(root), sqs.NewFromConfig(root)
	q, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("jobs")})
	must(err)
	_, err = s3.NewFromConfig(root, func(o *s3.Options) { o.UsePathStyle = true }).CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("files")})
	must(err)
	_, err = people.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("ann")})
	must(err)
	key, err := people.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: aws.String("ann")})
	must(err)
	her := as(*key.AccessKey.AccessKeyId, *key.AccessKey.SecretAccessKey, "")
	send := func(c aws.Config) error {
		_, err := sqs.NewFromConfig(c).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: aws.String("x")})
		return err
	}
	const queue = "arn:aws:sqs:us-east-1:000000000000:jobs"
	refusal := func(who, reason string) string {
		return "User: " + who + " is not authorized to perform: sqs:SendMessage on resource: " + queue + " " + reason
	}
	must(send(root))
	denied(send(her), "AccessDenied", refusal(ann, "because no identity-based policy allows the sqs:SendMessage action"))

	inline := func(document string) {
		t.Helper()
		_, err := people.PutUserPolicy(ctx, &iam.PutUserPolicyInput{UserName: aws.String("ann"), PolicyName: aws.String("p"),
			PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[` + document + `]}`)})
		must(err)
	}
	inline(`{"Effect":"Allow","Action":"sqs:*","Resource":"` + queue + `"},{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::files/${aws:username}/*"}`)
	must(send(her))
	_, err = dynamodb.NewFromConfig(her).ListTables(ctx, &dynamodb.ListTablesInput{})
	denied(err, "AccessDeniedException", "User: "+ann+" is not authorized to perform: dynamodb:ListTables on resource: * "+
		"because no identity-based policy allows the dynamodb:ListTables action")
	objects := s3.NewFromConfig(her, func(o *s3.Options) { o.UsePathStyle = true })
	_, err = objects.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("files"), Key: aws.String("ann/x"), Body: strings.NewReader("x")})
	denied(err, "AccessDenied", `User: `+ann+` is not authorized to perform: s3:PutObject on resource: "arn:aws:s3:::files/ann/x" `+
		`because no identity-based policy allows the s3:PutObject action`)
	_, err = objects.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("files"), Key: aws.String("ann/x")})
	denied(err, "AccessDenied", `User: `+ann+` is not authorized to perform: s3:ListBucket on resource: "arn:aws:s3:::files" `+
		`because no identity-based policy allows the s3:ListBucket action`)

	// The queue's own policy first denies her, then allows her what her own policies do not.
	policy := func(effect string) {
		t.Helper()
		_, err := queues.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: q.QueueUrl,
			Attributes: map[string]string{"Policy": `{"Version":"2012-10-17","Statement":[{"Effect":"` + effect + `","Principal":{"AWS":"` + ann + `"},"Action":"sqs:SendMessage","Resource":"*"}]}`}})
		must(err)
	}
	policy("Deny")
	denied(send(her), "AccessDenied", refusal(ann, "with an explicit deny in a resource-based policy"))
	policy("Allow")
	inline(`{"Effect":"Allow","Action":"sns:*","Resource":"*"}`)
	must(send(her))
	inline(`{"Effect":"Deny","Action":"sqs:Send*","Resource":"*"}`)
	denied(send(her), "AccessDenied", refusal(ann, "with an explicit deny in an identity-based policy"))
	inline(`{"Effect":"Allow","Action":"*","Resource":"*"}`)

	// A role whose trust policy names her, with one of AWS's policies.
	role, err := people.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("worker"), AssumeRolePolicyDocument: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::000000000000:user/bob"},"Action":"sts:AssumeRole"}]}`)})
	must(err)
	assume := func(bounds *string) (aws.Config, error) {
		a, err := sts.NewFromConfig(her).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: role.Role.Arn, RoleSessionName: aws.String("s1"), Policy: bounds})
		if err != nil {
			return aws.Config{}, err
		}
		return as(*a.Credentials.AccessKeyId, *a.Credentials.SecretAccessKey, *a.Credentials.SessionToken), nil
	}
	_, err = assume(nil)
	denied(err, "AccessDenied", "User: "+ann+" is not authorized to perform: sts:AssumeRole on resource: "+*role.Role.Arn+
		" because no resource-based policy allows the sts:AssumeRole action")
	_, err = people.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("worker"), PolicyDocument: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + account + `"},"Action":"sts:AssumeRole"}]}`)})
	must(err)
	worker, err := assume(nil)
	must(err)
	const session = "arn:aws:sts::000000000000:assumed-role/worker/s1"
	denied(send(worker), "AccessDenied", refusal(session, "because no identity-based policy allows the sqs:SendMessage action"))
	_, err = people.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: aws.String("worker"), PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonSQSFullAccess")})
	must(err)
	must(send(worker))
	bounded, err := assume(aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sqs:Get*","Resource":"*"}]}`))
	must(err)
	denied(send(bounded), "AccessDenied", refusal(session, "because no session policy allows the sqs:SendMessage action"))

	_, err = people.UpdateAccessKey(ctx, &iam.UpdateAccessKeyInput{UserName: aws.String("ann"), AccessKeyId: key.AccessKey.AccessKeyId, Status: "Inactive"})
	must(err)
	denied(send(her), "UnrecognizedClientException", "The security token included in the request is invalid.")
	simulate(ctx, t, people, role.Role.Arn)
}

// simulate asks IAM what the role is allowed to do.
func simulate(ctx context.Context, t *testing.T, people *iam.Client, role *string) {
	t.Helper()
	out, err := people.SimulatePrincipalPolicy(ctx, &iam.SimulatePrincipalPolicyInput{PolicySourceArn: role,
		ActionNames: []string{"sqs:SendMessage", "sns:Publish", "sqs:DeleteQueue"}, PolicyInputList: []string{
			`{"Version":"2012-10-17","Statement":{"Effect":"Deny","Action":"sqs:Delete*","Resource":"*"}}`}})
	if err != nil {
		t.Fatal(err)
	}
	want := []iamtypes.PolicyEvaluationDecisionType{"allowed", "implicitDeny", "explicitDeny"}
	for i, r := range out.EvaluationResults {
		if r.EvalDecision != want[i] {
			t.Errorf("%s: %s, want %s", *r.EvalActionName, r.EvalDecision, want[i])
		}
	}
}

// Without EnforceIAM, a user without policies may do everything.
func TestNobodyIsJudgedUnlessAsked(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{})
	ctx, c := t.Context(), settings(p)
	people := iam.NewFromConfig(c)
	if _, err := people.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("ann")}); err != nil {
		t.Fatal(err)
	}
	key, err := people.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: aws.String("ann")})
	if err != nil {
		t.Fatal(err)
	}
	c.Credentials = credentials.NewStaticCredentialsProvider(*key.AccessKey.AccessKeyId, "x", "")
	if _, err := sqs.NewFromConfig(c).ListQueues(ctx, &sqs.ListQueuesInput{}); err != nil {
		t.Error(err)
	}
}

// TestObjectsUnderEnforcement checks the condition keys and the signatures of S3 requests by an IAM user.
func TestObjectsUnderEnforcement(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{EnforceIAM: true})
	ctx, root := t.Context(), settings(p)
	client := func(c aws.Config, key, secret string) *s3.Client {
		c = c.Copy()
		if key != "" {
			c.Credentials = credentials.NewStaticCredentialsProvider(key, secret, "")
		}
		return s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true })
	}
	people, admin := iam.NewFromConfig(root), client(root, "", "")
	_, e1 := admin.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("files")})
	_, e2 := people.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("ann")})
	_, e3 := people.PutUserPolicy(ctx, &iam.PutUserPolicyInput{UserName: aws.String("ann"), PolicyName: aws.String("p"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`)})
	key, e4 := people.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: aws.String("ann")})
	_, e5 := admin.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: aws.String("files"), Policy: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::files/*",` +
			`"Condition":{"Null":{"s3:x-amz-server-side-encryption":"true"}}}]}`)})
	if err := errors.Join(e1, e2, e3, e4, e5); err != nil {
		t.Fatal(err)
	}
	id, secret := *key.AccessKey.AccessKeyId, *key.AccessKey.SecretAccessKey
	code := func(err error) string {
		var e smithy.APIError
		if errors.As(err, &e) {
			return e.ErrorCode()
		}
		return ""
	}
	for name, c := range map[string]struct {
		client     *s3.Client
		encryption s3types.ServerSideEncryption
		want       string
	}{
		"a condition on a header that is missing":    {client(root, id, secret), "", "AccessDenied"},
		"a condition on a header that is there":      {client(root, id, secret), "AES256", ""},
		"a signature with another secret access key": {client(root, id, "another"), "AES256", "SignatureDoesNotMatch"},
	} {
		_, err := c.client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("files"), Key: aws.String("k"),
			Body: strings.NewReader("x"), ServerSideEncryption: c.encryption})
		if code(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	presigned, err := s3.NewPresignClient(client(root, id, secret)).PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket: aws.String("files"), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	for suffix, want := range map[string]int{"": http.StatusOK, "&x-id=Other": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, presigned.URL+suffix, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = a.Body.Close(); a.StatusCode != want {
			t.Errorf("presigned%s: %d, want %d", suffix, a.StatusCode, want)
		}
	}
}
