package sts

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AssumeRole":                "trust and session policies are evaluated only with `serve --enforce-iam`; `PolicyArns` and MFA are ignored",
	"AssumeRoleWithWebIdentity": "tokens are not checked",
}
