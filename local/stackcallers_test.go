package local_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	saws "stepback/aws"
	"stepback/local"
	"stepback/local/services/cloudformation/resource"
)

const (
	// robot is a template with an IAM user.
	robot = `{"Resources":{"User":{"Type":"AWS::IAM::User","Properties":{"UserName":"robot"}}}}`
	// around is a template that nests the one in the bucket templates.
	around = `{"Resources":{"Inner":{"Type":"AWS::CloudFormation::Stack","Properties":{"TemplateURL":"https://s3.amazonaws.com/templates/robot.json"}}}}`
)

// developer is the IAM user dev, with policies that the test changes.
type developer struct {
	t      *testing.T
	root   stacks
	caller *resource.Caller
}

func newDeveloper(t *testing.T, p *local.Platform) *developer {
	t.Helper()
	root := stacksOf(t, p)
	do := func(service, operation string, in map[string]any) map[string]any {
		t.Helper()
		out, err := root.try(service, operation, in)
		if err != nil {
			t.Fatal(operation, err)
		}
		return out
	}
	do("iam", "CreateUser", map[string]any{"UserName": "dev"})
	key := do("iam", "CreateAccessKey", map[string]any{"UserName": "dev"})["AccessKey"].(map[string]any)
	do("s3", "CreateBucket", map[string]any{"Bucket": "templates"})
	return &developer{t: t, root: root, caller: &resource.Caller{Endpoint: p.Endpoint,
		Scope: saws.Scope{Account: "000000000000", Region: "us-east-1"}, AccessKey: key["AccessKeyId"].(string)}}
}

// may replaces dev's policy by one that allows actions on all resources.
func (d *developer) may(actions ...string) {
	d.t.Helper()
	if _, err := d.root.try("iam", "PutUserPolicy", map[string]any{"UserName": "dev", "PolicyName": "p",
		"PolicyDocument": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["` + strings.Join(actions, `","`) +
			`"],"Resource":"*"}]}`}); err != nil {
		d.t.Fatal(err)
	}
}

// call calls an operation as dev.
func (d *developer) call(service, operation string, in map[string]any) (map[string]any, error) {
	out := map[string]any{}
	err := d.caller.Call(d.t.Context(), service, operation, in, &out)
	return out, err
}

// does calls an operation of CloudFormation as dev and waits for the stack s.
func (d *developer) does(operation string, in map[string]any, status, reason string) {
	d.t.Helper()
	if _, err := d.call("cloudformation", operation, in); err != nil {
		d.t.Fatal(operation, err)
	}
	events := ""
	got, _ := d.root.settled("s")
	if got != "GONE" {
		events = d.root.events("s")
	}
	if got != status || !strings.Contains(events, reason) {
		d.t.Errorf("after %s, the stack is %s, want %s because of %q: %s", operation, got, status, reason, events)
	}
}

const (
	mayNotCreate = "User: arn:aws:iam::000000000000:user/dev is not authorized to perform: iam:CreateUser on resource: " +
		"arn:aws:iam::000000000000:user/robot because no identity-based policy allows the iam:CreateUser action"
	mayNotDelete = "User: arn:aws:iam::000000000000:user/dev is not authorized to perform: iam:DeleteUser on resource: " +
		"arn:aws:iam::000000000000:user/robot because no identity-based policy allows the iam:DeleteUser action"
)

// TestStacksActAsTheirCaller gives a user everything in CloudFormation and nothing in IAM: the user's stacks, change
// sets, nested stacks and deletions may do only what the user may.
func TestStacksActAsTheirCaller(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, open(t, local.Config{EnforceIAM: true}))
	in := map[string]any{"StackName": "s", "TemplateBody": robot, "Capabilities": []any{"CAPABILITY_NAMED_IAM"}}
	gone := func() {
		t.Helper()
		if _, err := d.root.try("cloudformation", "DeleteStack", map[string]any{"StackName": "s"}); err != nil {
			t.Fatal(err)
		}
		if status, _ := d.root.settled("s"); status != "GONE" {
			t.Fatal(status, d.root.events("s"))
		}
		if _, err := d.root.try("iam", "GetUser", map[string]any{"UserName": "robot"}); err == nil {
			t.Fatal("the user robot exists")
		}
	}
	d.may("cloudformation:*")
	d.does("CreateStack", in, "ROLLBACK_COMPLETE", mayNotCreate)
	gone()

	in["ChangeSetName"], in["ChangeSetType"] = "c", "CREATE"
	if _, err := d.call("cloudformation", "CreateChangeSet", in); err != nil {
		t.Fatal(err)
	}
	d.does("ExecuteChangeSet", map[string]any{"StackName": "s", "ChangeSetName": "c"}, "ROLLBACK_COMPLETE", mayNotCreate)
	gone()
	delete(in, "ChangeSetName")
	delete(in, "ChangeSetType")

	d.may("cloudformation:*", "iam:CreateUser", "iam:GetUser", "iam:TagUser")
	d.does("CreateStack", in, "CREATE_COMPLETE", "")
	d.does("DeleteStack", map[string]any{"StackName": "s"}, "DELETE_FAILED", mayNotDelete)
	gone()

	// The template of a nested stack is read, and its resources are created, as the user.
	if _, err := s3.NewFromConfig(d.root.cfg, func(o *s3.Options) { o.UsePathStyle = true }).PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: aws.String("templates"), Key: aws.String("robot.json"), Body: strings.NewReader(robot)}); err != nil {
		t.Fatal(err)
	}
	in["TemplateBody"] = around
	d.may("cloudformation:*")
	d.does("CreateStack", in, "ROLLBACK_COMPLETE", "S3 error: User: arn:aws:iam::000000000000:user/dev is not authorized to perform: s3:GetObject on resource: ")
	gone()
	d.may("cloudformation:*", "s3:GetObject")
	d.does("CreateStack", in, "ROLLBACK_COMPLETE", "was not successfully created")
	gone()
	if _, err := d.call("cloudformation", "CreateStack", map[string]any{"StackName": "t",
		"TemplateURL": "https://s3.amazonaws.com/templates/other.json"}); err == nil || !strings.Contains(err.Error(), "S3 error: ") {
		t.Errorf("the error is %v", err)
	}

	// The user may pass a role, and the role may create users.
	if _, err := d.root.try("iam", "CreateRole", map[string]any{"RoleName": "deployer", "AssumeRolePolicyDocument": `{"Version":"2012-10-17",` +
		`"Statement":[{"Effect":"Allow","Principal":{"Service":"cloudformation.amazonaws.com"},"Action":"sts:AssumeRole"}]}`}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.root.try("iam", "PutRolePolicy", map[string]any{"RoleName": "deployer", "PolicyName": "p", "PolicyDocument": `{"Version":` +
		`"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:*","Resource":"*"}]}`}); err != nil {
		t.Fatal(err)
	}
	in["TemplateBody"], in["RoleARN"] = robot, "arn:aws:iam::000000000000:role/deployer"
	if _, err := d.call("cloudformation", "CreateStack", in); err == nil || !strings.Contains(err.Error(), "iam:PassRole") {
		t.Errorf("without iam:PassRole: %v", err)
	}
	d.may("cloudformation:*", "iam:PassRole")
	d.does("CreateStack", in, "CREATE_COMPLETE", "")
	d.does("DeleteStack", map[string]any{"StackName": "s"}, "GONE", "")
}

// TestChangeSetsActInTheirRole creates a change set whose template has a dynamic reference that its role may resolve
// and its caller may not.
func TestChangeSetsActInTheirRole(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, open(t, local.Config{EnforceIAM: true}))
	for operation, in := range map[string]map[string]any{
		"ssm PutParameter": {"Name": "/team", "Type": "String", "Value": "red"},
		"iam CreateRole": {"RoleName": "deployer", "AssumeRolePolicyDocument": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",` +
			`"Principal":{"Service":"cloudformation.amazonaws.com"},"Action":"sts:AssumeRole"}]}`},
	} {
		service, name, _ := strings.Cut(operation, " ")
		if _, err := d.root.try(service, name, in); err != nil {
			t.Fatal(operation, err)
		}
	}
	if _, err := d.root.try("iam", "PutRolePolicy", map[string]any{"RoleName": "deployer", "PolicyName": "p", "PolicyDocument": `{"Version":` +
		`"2012-10-17","Statement":[{"Effect":"Allow","Action":["ssm:*","sqs:*"],"Resource":"*"}]}`}); err != nil {
		t.Fatal(err)
	}
	d.may("cloudformation:*", "iam:PassRole")
	in := map[string]any{"StackName": "s", "ChangeSetName": "c", "ChangeSetType": "CREATE",
		"TemplateBody": `{"Resources":{"Q":{"Type":"AWS::SQS::Queue","Properties":{"QueueName":"{{resolve:ssm:/team}}"}}}}`}
	for role, want := range map[string]string{"": "FAILED", "arn:aws:iam::000000000000:role/deployer": "CREATE_COMPLETE"} {
		if in["ChangeSetName"] = "without"; role != "" {
			in["RoleARN"], in["ChangeSetName"] = role, "with"
		} else {
			delete(in, "RoleARN")
		}
		if _, err := d.call("cloudformation", "CreateChangeSet", in); err != nil {
			t.Fatal(err)
		}
		set, err := d.call("cloudformation", "DescribeChangeSet", map[string]any{"StackName": "s", "ChangeSetName": in["ChangeSetName"]})
		if err != nil || set["Status"] != want {
			t.Errorf("with role %q: %v, %v: %v, want %s", role, set["Status"], err, set["StatusReason"], want)
		}
	}
}

// TestCustomResourcesActAsTheirCaller sends a custom resource's request to a topic that the stack's caller may not
// publish to.
func TestCustomResourcesActAsTheirCaller(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, open(t, local.Config{EnforceIAM: true}))
	if _, err := d.root.try("sns", "CreateTopic", map[string]any{"Name": "providers"}); err != nil {
		t.Fatal(err)
	}
	d.may("cloudformation:*")
	d.does("CreateStack", map[string]any{"StackName": "s", "TemplateBody": `{"Resources":{"C":{"Type":"Custom::Thing",` +
		`"Properties":{"ServiceToken":"arn:aws:sns:us-east-1:000000000000:providers"}}}}`}, "ROLLBACK_COMPLETE",
		"User: arn:aws:iam::000000000000:user/dev is not authorized to perform: sns:Publish on resource: "+
			"arn:aws:sns:us-east-1:000000000000:providers")
}

// TestCloudControlActsAsItsCaller creates, reads, lists and deletes a user through Cloud Control as a user who may not,
// and then in a role that may.
func TestCloudControlActsAsItsCaller(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, open(t, local.Config{EnforceIAM: true}))
	ended := func(operation string, in map[string]any) map[string]any {
		t.Helper()
		out, err := d.call("cloudcontrol", operation, in)
		if err != nil {
			t.Fatal(operation, err)
		}
		for {
			progress := out["ProgressEvent"].(map[string]any)
			if progress["OperationStatus"] != "IN_PROGRESS" {
				return progress
			}
			if out, err = d.call("cloudcontrol", "GetResourceRequestStatus", map[string]any{"RequestToken": progress["RequestToken"]}); err != nil {
				t.Fatal(err)
			}
		}
	}
	create := map[string]any{"TypeName": "AWS::IAM::User", "DesiredState": `{"UserName":"robot"}`}
	d.may("cloudformation:*")
	if got := ended("CreateResource", create); got["OperationStatus"] != "FAILED" || got["ErrorCode"] != "AccessDenied" ||
		got["StatusMessage"] != mayNotCreate {
		t.Errorf("CreateResource ended with %v", got)
	}
	if _, err := d.root.try("iam", "CreateUser", map[string]any{"UserName": "robot"}); err != nil {
		t.Fatal(err)
	}
	about := map[string]any{"TypeName": "AWS::IAM::User", "Identifier": "robot"}
	for operation, in := range map[string]map[string]any{"GetResource": about, "DeleteResource": about,
		"ListResources": {"TypeName": "AWS::SQS::Queue"}} {
		if _, err := d.call("cloudcontrol", operation, in); err == nil || !strings.Contains(err.Error(), "user/dev is not authorized to perform: ") {
			t.Errorf("%s: error %v", operation, err)
		}
	}
	d.may("cloudformation:*", "iam:GetUser", "iam:List*")
	if got := ended("DeleteResource", about); got["OperationStatus"] != "FAILED" || got["ErrorCode"] != "AccessDenied" ||
		got["StatusMessage"] != mayNotDelete {
		t.Errorf("DeleteResource ended with %v", got)
	}
	if _, err := d.root.try("iam", "CreateRole", map[string]any{"RoleName": "deployer", "AssumeRolePolicyDocument": `{"Version":"2012-10-17",` +
		`"Statement":[{"Effect":"Allow","Principal":{"Service":"cloudformation.amazonaws.com"},"Action":"sts:AssumeRole"}]}`}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.root.try("iam", "PutRolePolicy", map[string]any{"RoleName": "deployer", "PolicyName": "p", "PolicyDocument": `{"Version":` +
		`"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:*","Resource":"*"}]}`}); err != nil {
		t.Fatal(err)
	}
	about["RoleArn"] = "arn:aws:iam::000000000000:role/deployer"
	if _, err := d.call("cloudcontrol", "DeleteResource", about); err == nil || !strings.Contains(err.Error(), "iam:PassRole") {
		t.Errorf("without iam:PassRole: %v", err)
	}
	d.may("cloudformation:*", "iam:PassRole")
	if got := ended("DeleteResource", about); got["OperationStatus"] != "SUCCESS" {
		t.Errorf("DeleteResource ended with %v", got)
	}
}
