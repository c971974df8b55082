package sts

// partly says what operations that are served do not do.
var partly = map[string]string{
	"AssumeRole":                "trust policies, session policies and MFA are checked by nobody",
	"AssumeRoleWithWebIdentity": "tokens are not checked",
}
