package iam_test

import (
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestPolicyGrammar has the messages of IAM for documents that its grammar does not allow.
func TestPolicyGrammar(t *testing.T) {
	t.Parallel()
	_, c := newClient(t, vfs.NewMem())
	trusts := strings.NewReplacer("'", `"`)
	for _, d := range []struct{ statement, message string }{
		{`'Effect':'Allow','Action':'s3','Resource':'*'`,
			"Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."},
		{`'Effect':'Allow','Action':'s3:*','Resource':'x'`, `Resource x must be in ARN format or "*".`},
		{`'Sid':'a b','Effect':'Allow','Action':'s3:*','Resource':'*'`, "Statement IDs (SID) must be alpha-numeric. Check that your input " +
			"satisfies the regular expression [0-9A-Za-z]*"},
		{`'Effect':'Allow','Action':'s3:*','Resource':'*','Condition':{'Nope':{'a':'b'}}`, "Syntax errors in policy."},
		{`'Effect':'Allow','Action':'s3:*','NotAction':'s3:*','Resource':'*'`, "Syntax errors in policy."},
		{`'Effect':'Allow','Action':['*','s3:Get*'],'Resource':['*','arn:aws:s3:::b/${aws:username}/*'],` +
			`'Condition':{'ForAnyValue:StringLikeIfExists':{'a':['b']}}`, ""},
	} {
		_, err := c.CreatePolicy(t.Context(), &client.CreatePolicyInput{PolicyName: sdk.String("P"),
			PolicyDocument: sdk.String(trusts.Replace(`{'Version':'2012-10-17','Statement':[{` + d.statement + `}]}`))})
		if d.message != "" {
			refused(t, err, "MalformedPolicyDocument", d.message)
		} else if err != nil {
			t.Error(err)
		}
	}
	for _, d := range []struct{ statement, message string }{
		{`'Principal':{'Service':'lambda'},'Action':'sts:AssumeRole'`, `Invalid principal in policy: "SERVICE":"lambda"`},
		{`'Principal':{'AWS':'x'},'Action':'sts:AssumeRole'`, `Invalid principal in policy: "AWS":"x"`},
		{`'Principal':{'AWS':'222222222222'},'Action':'s3:GetObject'`, "AssumeRole policy may only specify STS AssumeRole actions."},
		{`'Principal':{'AWS':['222222222222','AROAXXXXXXXXXXXXXXXXX','arn:aws:iam::222222222222:root'],` +
			`'Service':'pods.eks.amazonaws.com'},'Action':['sts:AssumeRole','sts:TagSession']`, ""},
	} {
		_, err := c.CreateRole(t.Context(), &client.CreateRoleInput{RoleName: sdk.String("R"), AssumeRolePolicyDocument: sdk.String(
			trusts.Replace(`{'Version':'2012-10-17','Statement':[{'Effect':'Allow',` + d.statement + `}]}`))})
		if d.message != "" {
			refused(t, err, "MalformedPolicyDocument", d.message)
		} else if err != nil {
			t.Error(err)
		}
	}
}
