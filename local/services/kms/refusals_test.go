package kms_test

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
)

func keyPolicy(principal, action string) *string {
	return sdk.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":` + principal +
		`,"Action":"` + action + `","Resource":"*"}]}`)
}

// TestKeyPolicies checks policies as API_PutKeyPolicy documents.
func TestKeyPolicies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const locked = "The new key policy will not allow you to update the key policy in the future."
	for _, c := range []struct {
		name    string
		policy  *string
		bypass  bool
		message string // empty for a policy that is taken
	}{
		{"no JSON", sdk.String("x"), true, "The policy document is not valid JSON."},
		{"no statement", sdk.String("{}"), true, "The policy has no statement."},
		{"no principal", keyPolicy(`{"AWS":"x"}`, "kms:*"), true, "one or more invalid principals"},
		{"no service", keyPolicy(`{"Service":"s3"}`, "kms:*"), true, "one or more invalid principals"},
		{"only encryption", keyPolicy(`{"AWS":"arn:aws:iam::111111111111:root"}`, "kms:Encrypt"), false, locked},
		{"only encryption, on purpose", keyPolicy(`{"AWS":"arn:aws:iam::111111111111:root"}`, "kms:Encrypt"), true, ""},
		{"another account", keyPolicy(`{"AWS":"222222222222"}`, "kms:*"), false, locked},
		{"the account", keyPolicy(`{"AWS":"111111111111"}`, "kms:*"), false, ""},
		{"a role", keyPolicy(`{"AWS":"arn:aws:iam::111111111111:role/admin"}`, "kms:Put*"), false, ""},
		{"anyone", keyPolicy(`"*"`, "kms:*"), false, ""},
		{"with a condition", sdk.String(`{"Statement":{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"kms:*","Resource":"*",` +
			`"Condition":{"StringEquals":{"kms:CallerAccount":"111111111111"}}}}`), false, ""},
		{"denied", sdk.String(`{"Statement":[{"Effect":"Allow","Principal":"*","Action":"kms:*","Resource":"*"},` +
			`{"Effect":"Deny","Principal":"*","Action":"kms:PutKeyPolicy","Resource":"*"}]}`), false, locked},
	} {
		_, err := b.CreateKey(t.Context(), &client.CreateKeyInput{Policy: c.policy,
			BypassPolicyLockoutSafetyCheck: c.bypass})
		if c.message != "" {
			refused(t, err, "MalformedPolicyDocumentException", c.message)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		k, err := b.CreateKey(t.Context(), &client.CreateKeyInput{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.PutKeyPolicy(t.Context(), &client.PutKeyPolicyInput{KeyId: k.KeyMetadata.KeyId, Policy: c.policy,
			BypassPolicyLockoutSafetyCheck: c.bypass})
		if c.message != "" {
			refused(t, err, "MalformedPolicyDocumentException", c.message)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestGrantsThatAreRefused follows API_CreateGrant and the developer guide's list of grant operations.
func TestGrantsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	key := func(in *client.CreateKeyInput) *string {
		k, err := b.CreateKey(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return k.KeyMetadata.KeyId
	}
	symmetric := key(&client.CreateKeyInput{})
	signing := key(&client.CreateKeyInput{KeySpec: "ECC_NIST_P256", KeyUsage: "SIGN_VERIFY"})
	const role = "arn:aws:iam::111111111111:role/reader"
	for _, c := range []struct {
		key                         *string
		grantee, retiring, code, in string
		operations                  []types.GrantOperation
	}{
		{symmetric, role, "", "ValidationException", "Operations must not be empty.", []types.GrantOperation{}},
		{symmetric, "x", "", "InvalidArnException", "ARN does not refer to a valid principal: x", []types.GrantOperation{"Encrypt"}},
		{symmetric, "s3.amazonaws.com", "", "InvalidArnException", "ARN does not refer", []types.GrantOperation{"Encrypt"}},
		{symmetric, role, "arn:aws:s3:::b", "InvalidArnException", "arn:aws:s3:::b", []types.GrantOperation{"Encrypt"}},
		{symmetric, role, "", "ValidationException", "Operation Sign is not supported", []types.GrantOperation{"Encrypt", "Sign"}},
		{signing, role, "", "ValidationException", "Operation Encrypt is not supported", []types.GrantOperation{"Encrypt"}},
		{signing, role, role, "", "", []types.GrantOperation{"Sign", "GetPublicKey", "DescribeKey"}},
		{symmetric, "arn:aws:sts::111111111111:assumed-role/r/s", "", "", "", []types.GrantOperation{"CreateGrant"}},
	} {
		in := &client.CreateGrantInput{KeyId: c.key, GranteePrincipal: &c.grantee, Operations: c.operations}
		if c.retiring != "" {
			in.RetiringPrincipal = &c.retiring
		}
		if _, err := b.CreateGrant(t.Context(), in); c.code != "" {
			refused(t, err, c.code, c.in)
		} else if err != nil {
			t.Error(err)
		}
	}
	alias := sdk.String("alias/movable")
	if _, err := b.CreateAlias(t.Context(), &client.CreateAliasInput{AliasName: alias,
		TargetKeyId: symmetric}); err != nil {
		t.Fatal(err)
	}
	_, err := b.UpdateAlias(t.Context(), &client.UpdateAliasInput{AliasName: alias, TargetKeyId: signing})
	refused(t, err, "ValidationException", "must be of the same type and have the same key usage")
	if _, err := b.UpdateAlias(t.Context(), &client.UpdateAliasInput{AliasName: alias,
		TargetKeyId: key(&client.CreateKeyInput{})}); err != nil {
		t.Error(err)
	}
}

// TestGrantTokens has operations check the tokens that clients send.
func TestGrantTokens(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k, err := b.CreateKey(t.Context(), &client.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	id := k.KeyMetadata.KeyId
	g, err := b.CreateGrant(t.Context(), &client.CreateGrantInput{KeyId: id, Operations: []types.GrantOperation{"Encrypt"},
		GranteePrincipal: sdk.String("arn:aws:iam::111111111111:role/reader")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tokens []string
		code   string // empty for tokens that are taken
	}{
		{nil, ""},
		{[]string{*g.GrantToken}, ""},
		{[]string{"bm9uZQ"}, "InvalidGrantTokenException"},
		{[]string{*g.GrantToken, *g.GrantId}, "InvalidGrantTokenException"},
	} {
		_, err1 := b.Encrypt(t.Context(), &client.EncryptInput{KeyId: id, Plaintext: []byte("x"), GrantTokens: c.tokens})
		_, err2 := b.DescribeKey(t.Context(), &client.DescribeKeyInput{KeyId: k.KeyMetadata.Arn, GrantTokens: c.tokens})
		_, err3 := b.GenerateDataKey(t.Context(), &client.GenerateDataKeyInput{KeyId: id, KeySpec: "AES_256",
			GrantTokens: c.tokens})
		for _, err := range []error{err1, err2, err3} {
			if c.code != "" {
				refused(t, err, c.code, "")
			} else if err != nil {
				t.Errorf("%v: %v", c.tokens, err)
			}
		}
	}
}

// TestManagedAliases has the aliases of services with an AWS managed key, and others with their prefix.
func TestManagedAliases(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k, err := b.CreateKey(t.Context(), &client.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ alias, code, message string }{
		{"alias/aws/s3", "", ""},
		{"alias/aws/secretsmanager", "", ""},
		{"alias/aws/nothing", "NotFoundException", "Alias arn:aws:kms:eu-west-1:111111111111:alias/aws/nothing is not found."},
		{"alias/aws/", "NotFoundException", "Alias arn:aws:kms:eu-west-1:111111111111:alias/aws/ is not found."},
		{"alias/aws", "NotFoundException", "Alias arn:aws:kms:eu-west-1:111111111111:alias/aws is not found."},
	} {
		d, err := b.DescribeKey(t.Context(), &client.DescribeKeyInput{KeyId: &c.alias})
		if c.code != "" {
			refused(t, err, c.code, c.message)
		} else if err != nil || d.KeyMetadata.KeyManager != "AWS" {
			t.Errorf("%s: %v, %v", c.alias, d, err)
		}
	}
	for _, alias := range []string{"alias/aws/s3", "alias/aws/mine"} {
		_, err := b.CreateAlias(t.Context(), &client.CreateAliasInput{AliasName: &alias,
			TargetKeyId: k.KeyMetadata.KeyId})
		refused(t, err, "NotAuthorizedException", "")
		_, err = b.UpdateAlias(t.Context(), &client.UpdateAliasInput{AliasName: &alias,
			TargetKeyId: k.KeyMetadata.KeyId})
		refused(t, err, "NotAuthorizedException", "")
		_, err = b.DeleteAlias(t.Context(), &client.DeleteAliasInput{AliasName: &alias})
		refused(t, err, "NotAuthorizedException", "")
	}
}

// TestManagedKeysCannotBeChanged follows the developer guide ("AWS managed keys").
func TestManagedKeysCannotBeChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d, err := b.DescribeKey(t.Context(), &client.DescribeKeyInput{KeyId: sdk.String("alias/aws/s3")})
	if err != nil {
		t.Fatal(err)
	}
	id := d.KeyMetadata.KeyId
	for operation, call := range map[string]func() error{
		"DisableKey": func() error { _, err := b.DisableKey(t.Context(), &client.DisableKeyInput{KeyId: id}); return err },
		"ScheduleKeyDeletion": func() error {
			_, err := b.ScheduleKeyDeletion(t.Context(), &client.ScheduleKeyDeletionInput{KeyId: id})
			return err
		},
		"PutKeyPolicy": func() error {
			_, err := b.PutKeyPolicy(t.Context(), &client.PutKeyPolicyInput{KeyId: id,
				Policy: keyPolicy(`{"AWS":"111111111111"}`, "kms:*")})
			return err
		},
		"TagResource": func() error {
			_, err := b.TagResource(t.Context(), &client.TagResourceInput{KeyId: id,
				Tags: []types.Tag{{TagKey: sdk.String("a"), TagValue: sdk.String("b")}}})
			return err
		},
		"CreateAlias": func() error {
			_, err := b.CreateAlias(t.Context(), &client.CreateAliasInput{AliasName: sdk.String("alias/mine"), TargetKeyId: id})
			return err
		},
		"EnableKeyRotation": func() error {
			_, err := b.EnableKeyRotation(t.Context(), &client.EnableKeyRotationInput{KeyId: id})
			return err
		},
	} {
		refused(t, call(), "AccessDeniedException", "User: arn:aws:iam::111111111111:root is not authorized to perform: kms:"+operation+
			" on resource: "+*d.KeyMetadata.Arn+" because no resource-based policy allows the kms:"+operation+" action")
	}
}
