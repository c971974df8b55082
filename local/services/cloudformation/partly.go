package cloudformation

// partly describes what supported operations do not do.
var partly = map[string]string{
	"CreateChangeSet": "`DeploymentMode` and `OnStackFailure` beyond CloudFormation's " +
		"default and macros are refused; `RoleARN` is assumed with `serve --enforce-iam` only",
	"CreateStack":              "macros are refused; `RoleARN` is assumed with `serve --enforce-iam` only",
	"DetectStackDrift":         "of the properties that the template names",
	"DetectStackResourceDrift": "of the properties that the template names",
	"UpdateStack":              "as CreateStack",
}
