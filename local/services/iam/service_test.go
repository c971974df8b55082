package iam_test

import (
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/iam"
)

const (
	trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},` +
		`"Action":"sts:AssumeRole"}]}`
	allow = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:*","Resource":"*"}}`
	logs  = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
)

// newClient returns an AWS client for a service over disk.
func newClient(t *testing.T, disk vfs.FS) (end func(), c *client.Client) {
	t.Helper()
	store, err := documents.Open("/documents", disk)
	if err != nil {
		t.Fatal(err)
	}
	virtual := clock.Virtual(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	server := httptest.NewServer(iam.New(iam.Options{Documents: store, Clock: virtual,
		Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}}).Handler())
	end = sync.OnceFunc(func() {
		server.Close()
		virtual.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return end, client.New(client.Options{BaseEndpoint: &server.URL, Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("111111111111", "secret", "")})
}

func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || e.ErrorMessage() != message {
		t.Errorf("%v; want %s: %s", err, code, message)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	ctx, disk := t.Context(), vfs.NewMem()
	end, c := newClient(t, disk)
	name := sdk.String("Import")
	made := must[*client.CreateRoleOutput](t)(c.CreateRole(ctx, &client.CreateRoleInput{RoleName: name,
		Path: sdk.String("/jobs/"), AssumeRolePolicyDocument: sdk.String(trust), Tags: []types.Tag{{Key: name, Value: name}}}))
	if *made.Role.Arn != "arn:aws:iam::111111111111:role/jobs/Import" || !strings.HasPrefix(*made.Role.RoleId, "AROA") ||
		len(*made.Role.RoleId) != 21 || made.Role.MaxSessionDuration != nil {
		t.Errorf("made %+v", made.Role)
	}
	if document, _ := url.QueryUnescape(*made.Role.AssumeRolePolicyDocument); document != trust {
		t.Errorf("trust %s", document)
	}
	_, err := c.CreateRole(ctx, &client.CreateRoleInput{RoleName: sdk.String("IMPORT"), AssumeRolePolicyDocument: sdk.String(trust)})
	refused(t, err, "EntityAlreadyExists", "Role with name IMPORT already exists.")
	_, err = c.CreateRole(ctx, &client.CreateRoleInput{RoleName: sdk.String("R"), AssumeRolePolicyDocument: sdk.String(allow)})
	refused(t, err, "MalformedPolicyDocument", "Has prohibited field Resource")
	_, err = c.GetRole(ctx, &client.GetRoleInput{RoleName: sdk.String("R")})
	refused(t, err, "NoSuchEntity", "The role with name R cannot be found.")

	policy := must[*client.CreatePolicyOutput](t)(c.CreatePolicy(ctx, &client.CreatePolicyInput{
		PolicyName: sdk.String("Read"), PolicyDocument: sdk.String(allow)})).Policy.Arn
	for _, arn := range []*string{policy, sdk.String(logs)} {
		must[*client.AttachRolePolicyOutput](t)(c.AttachRolePolicy(ctx,
			&client.AttachRolePolicyInput{RoleName: name, PolicyArn: arn}))
	}
	_, err = c.AttachRolePolicy(ctx, &client.AttachRolePolicyInput{RoleName: name,
		PolicyArn: sdk.String("arn:aws:iam::111111111111:policy/Gone")})
	refused(t, err, "NoSuchEntity", "Policy arn:aws:iam::111111111111:policy/Gone does not exist or is not attachable.")
	must[*client.PutRolePolicyOutput](t)(c.PutRolePolicy(ctx, &client.PutRolePolicyInput{RoleName: name,
		PolicyName: sdk.String("own"), PolicyDocument: sdk.String(allow)}))
	_, err = c.PutRolePolicy(ctx, &client.PutRolePolicyInput{RoleName: name, PolicyName: sdk.String("own"),
		PolicyDocument: sdk.String("{")})
	refused(t, err, "MalformedPolicyDocument", "This policy contains invalid Json")

	end()
	_, c = newClient(t, disk) // everything acknowledged is on disk
	attached := must[*client.ListAttachedRolePoliciesOutput](t)(c.ListAttachedRolePolicies(ctx,
		&client.ListAttachedRolePoliciesInput{RoleName: name}))
	if len(attached.AttachedPolicies) != 2 || *attached.AttachedPolicies[1].PolicyName != "AWSLambdaBasicExecutionRole" {
		t.Errorf("attached %+v", attached.AttachedPolicies)
	}
	own := must[*client.GetRolePolicyOutput](t)(c.GetRolePolicy(ctx, &client.GetRolePolicyInput{RoleName: name,
		PolicyName: sdk.String("own")}))
	if document, _ := url.QueryUnescape(*own.PolicyDocument); document != allow || *own.RoleName != "Import" {
		t.Errorf("own policy %s of %s", document, *own.RoleName)
	}
	_, err = c.DeletePolicy(ctx, &client.DeletePolicyInput{PolicyArn: policy})
	refused(t, err, "DeleteConflict", "Cannot delete a policy attached to entities.")
	_, err = c.DeleteRole(ctx, &client.DeleteRoleInput{RoleName: name})
	refused(t, err, "DeleteConflict", "Cannot delete entity, must detach all policies first.")
	for _, arn := range []*string{policy, sdk.String(logs)} {
		must[*client.DetachRolePolicyOutput](t)(c.DetachRolePolicy(ctx,
			&client.DetachRolePolicyInput{RoleName: name, PolicyArn: arn}))
	}
	_, err = c.DeleteRole(ctx, &client.DeleteRoleInput{RoleName: name})
	refused(t, err, "DeleteConflict", "Cannot delete entity, must delete policies first.")
	must[*client.DeleteRolePolicyOutput](t)(c.DeleteRolePolicy(ctx, &client.DeleteRolePolicyInput{RoleName: name, PolicyName: sdk.String("own")}))
	must[*client.DeleteRoleOutput](t)(c.DeleteRole(ctx, &client.DeleteRoleInput{RoleName: name}))
	must[*client.DeletePolicyOutput](t)(c.DeletePolicy(ctx, &client.DeletePolicyInput{PolicyArn: policy}))
	if left := must[*client.ListRolesOutput](t)(c.ListRoles(ctx, nil)); len(left.Roles) != 0 || left.IsTruncated {
		t.Errorf("left %+v", left)
	}
}

func TestPolicyVersions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, c := newClient(t, vfs.NewMem())
	arn := must[*client.CreatePolicyOutput](t)(c.CreatePolicy(ctx, &client.CreatePolicyInput{
		PolicyName: sdk.String("Read"), PolicyDocument: sdk.String(allow)})).Policy.Arn
	for range 4 {
		must[*client.CreatePolicyVersionOutput](t)(c.CreatePolicyVersion(ctx,
			&client.CreatePolicyVersionInput{PolicyArn: arn,
				PolicyDocument: sdk.String(allow), SetAsDefault: true}))
	}
	_, err := c.CreatePolicyVersion(ctx, &client.CreatePolicyVersionInput{PolicyArn: arn,
		PolicyDocument: sdk.String(allow)})
	refused(t, err, "LimitExceeded", "A managed policy can have up to 5 versions. Before you create a new version, you must "+
		"delete an existing version.")
	_, err = c.DeletePolicyVersion(ctx, &client.DeletePolicyVersionInput{PolicyArn: arn, VersionId: sdk.String("v5")})
	refused(t, err, "DeleteConflict", "Cannot delete the default version of a policy.")
	must[*client.DeletePolicyVersionOutput](t)(c.DeletePolicyVersion(ctx, &client.DeletePolicyVersionInput{PolicyArn: arn, VersionId: sdk.String("v1")}))
	versions := must[*client.ListPolicyVersionsOutput](t)(c.ListPolicyVersions(ctx,
		&client.ListPolicyVersionsInput{PolicyArn: arn}))
	if n := len(versions.Versions); n != 4 || *versions.Versions[0].VersionId != "v5" || !versions.Versions[0].IsDefaultVersion {
		t.Errorf("%d versions, first %+v", n, versions.Versions[0])
	}
	var ids []string
	for pages := client.NewListPolicyVersionsPaginator(c, &client.ListPolicyVersionsInput{PolicyArn: arn,
		MaxItems: sdk.Int32(3)}); pages.HasMorePages(); {
		page := must[*client.ListPolicyVersionsOutput](t)(pages.NextPage(ctx))
		for _, v := range page.Versions {
			ids = append(ids, *v.VersionId)
		}
	}
	if got := strings.Join(ids, " "); got != "v5 v4 v3 v2" {
		t.Errorf("in pages of three: %s", got)
	}
}

func TestEntitiesForPolicy(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, c := newClient(t, vfs.NewMem())
	arn := must[*client.CreatePolicyOutput](t)(c.CreatePolicy(ctx, &client.CreatePolicyInput{
		PolicyName: sdk.String("Read"), PolicyDocument: sdk.String(allow)})).Policy.Arn
	for _, name := range []string{"ann", "bob"} {
		must[*client.CreateUserOutput](t)(c.CreateUser(ctx, &client.CreateUserInput{UserName: &name}))
	}
	must[*client.AttachUserPolicyOutput](t)(c.AttachUserPolicy(ctx, &client.AttachUserPolicyInput{UserName: sdk.String("ann"), PolicyArn: arn}))
	must[*client.PutUserPermissionsBoundaryOutput](t)(c.PutUserPermissionsBoundary(ctx,
		&client.PutUserPermissionsBoundaryInput{UserName: sdk.String("bob"), PermissionsBoundary: arn}))
	for _, test := range []struct {
		in   client.ListEntitiesForPolicyInput
		want string
	}{
		{client.ListEntitiesForPolicyInput{}, "ann bob"},
		{client.ListEntitiesForPolicyInput{MaxItems: sdk.Int32(1)}, "ann bob"},
		{client.ListEntitiesForPolicyInput{PolicyUsageFilter: types.PolicyUsageTypePermissionsPolicy}, "ann"},
		{client.ListEntitiesForPolicyInput{PolicyUsageFilter: types.PolicyUsageTypePermissionsBoundary}, "bob"},
		{client.ListEntitiesForPolicyInput{EntityFilter: types.EntityTypeRole}, ""},
	} {
		test.in.PolicyArn = arn
		var names []string
		for pages := client.NewListEntitiesForPolicyPaginator(c, &test.in); pages.HasMorePages(); {
			for _, u := range must[*client.ListEntitiesForPolicyOutput](t)(pages.NextPage(ctx)).PolicyUsers {
				names = append(names, *u.UserName)
			}
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%+v: %q, want %q", test.in, got, test.want)
		}
	}
}

func TestUsersGroupsAndProfiles(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, c := newClient(t, vfs.NewMem())
	name := sdk.String("ann")
	must[*client.CreateUserOutput](t)(c.CreateUser(ctx, &client.CreateUserInput{UserName: name}))
	must[*client.CreateGroupOutput](t)(c.CreateGroup(ctx, &client.CreateGroupInput{GroupName: sdk.String("ops")}))
	must[*client.AddUserToGroupOutput](t)(c.AddUserToGroup(ctx, &client.AddUserToGroupInput{UserName: name, GroupName: sdk.String("ops")}))
	if g := must[*client.GetGroupOutput](t)(c.GetGroup(ctx, &client.GetGroupInput{GroupName: sdk.String("ops")})); len(g.Users) != 1 {
		t.Errorf("users of the group: %+v", g.Users)
	}
	_, err := c.DeleteGroup(ctx, &client.DeleteGroupInput{GroupName: sdk.String("ops")})
	refused(t, err, "DeleteConflict", "Cannot delete entity, must remove users from group first.")
	k := must[*client.CreateAccessKeyOutput](t)(c.CreateAccessKey(ctx, &client.CreateAccessKeyInput{UserName: name}))
	if !strings.HasPrefix(*k.AccessKey.AccessKeyId, "LKIA") || len(*k.AccessKey.SecretAccessKey) < 40 {
		t.Errorf("key %s", *k.AccessKey.AccessKeyId)
	}
	_, err = c.DeleteUser(ctx, &client.DeleteUserInput{UserName: name})
	refused(t, err, "DeleteConflict", "Cannot delete entity, must delete access keys first.")

	must[*client.CreateRoleOutput](t)(c.CreateRole(ctx, &client.CreateRoleInput{RoleName: name,
		AssumeRolePolicyDocument: sdk.String(trust)}))
	must[*client.CreateInstanceProfileOutput](t)(c.CreateInstanceProfile(ctx,
		&client.CreateInstanceProfileInput{InstanceProfileName: name}))
	must[*client.AddRoleToInstanceProfileOutput](t)(c.AddRoleToInstanceProfile(ctx,
		&client.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: name}))
	p := must[*client.GetInstanceProfileOutput](t)(c.GetInstanceProfile(ctx,
		&client.GetInstanceProfileInput{InstanceProfileName: name}))
	if len(p.InstanceProfile.Roles) != 1 || *p.InstanceProfile.Arn != "arn:aws:iam::111111111111:instance-profile/ann" {
		t.Errorf("profile %+v", p.InstanceProfile)
	}
	_, err = c.DeleteRole(ctx, &client.DeleteRoleInput{RoleName: name})
	refused(t, err, "DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")

	const github = "https://token.actions.githubusercontent.com"
	provider := must[*client.CreateOpenIDConnectProviderOutput](t)(c.CreateOpenIDConnectProvider(ctx,
		&client.CreateOpenIDConnectProviderInput{Url: sdk.String(github), ClientIDList: []string{"sts.amazonaws.com"}}))
	got := must[*client.GetOpenIDConnectProviderOutput](t)(c.GetOpenIDConnectProvider(ctx,
		&client.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: provider.OpenIDConnectProviderArn}))
	if *got.Url != "token.actions.githubusercontent.com" || got.ClientIDList[0] != "sts.amazonaws.com" {
		t.Errorf("provider %+v", got)
	}
	_, err = c.CreateLoginProfile(ctx, &client.CreateLoginProfileInput{UserName: name})
	refused(t, err, "NotImplemented", "The operation CreateLoginProfile of IAM is not served here. Those that are: stepback services iam, docs/services.md.")
}

func TestPages(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, c := newClient(t, vfs.NewMem())
	for _, name := range []string{"c", "a", "b"} {
		must[*client.CreateGroupOutput](t)(c.CreateGroup(ctx, &client.CreateGroupInput{GroupName: &name}))
	}
	var names []string
	for p := client.NewListGroupsPaginator(c, &client.ListGroupsInput{MaxItems: sdk.Int32(2)}); p.HasMorePages(); {
		for _, g := range must[*client.ListGroupsOutput](t)(p.NextPage(ctx)).Groups {
			names = append(names, *g.GroupName)
		}
	}
	if strings.Join(names, "") != "abc" {
		t.Errorf("groups %v", names)
	}
}

// A policy to attach is named by its ARN.
func TestAttachRefusesNames(t *testing.T) {
	t.Parallel()
	end, c := newClient(t, vfs.NewMem())
	defer end()
	ctx, name := t.Context(), sdk.String("r")
	must[*client.CreateRoleOutput](t)(c.CreateRole(ctx, &client.CreateRoleInput{RoleName: name,
		AssumeRolePolicyDocument: sdk.String(`{"Version":"2012-10-17","Statement":[]}`)}))
	_, err := c.AttachRolePolicy(ctx, &client.AttachRolePolicyInput{RoleName: name, PolicyArn: sdk.String("longpolicynamebutnoarn")})
	refused(t, err, "ValidationError", "ARN longpolicynamebutnoarn is not valid.")
	_, err = c.DetachRolePolicy(ctx, &client.DetachRolePolicyInput{RoleName: name, PolicyArn: sdk.String("longpolicynamebutnoarn")})
	refused(t, err, "ValidationError", "ARN longpolicynamebutnoarn is not valid.")
}
