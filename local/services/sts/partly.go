package sts

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AssumeRole":                "trust and session policies are evaluated with `serve --enforce-iam` only; `PolicyArns` and MFA are ignored",
	"AssumeRoleWithWebIdentity": "tokens are not checked",
}
