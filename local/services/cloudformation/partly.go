package cloudformation

// partly describes what supported operations do not do.
var partly = map[string]string{
	"CreateChangeSet": "`DeploymentMode` and `OnStackFailure` beyond CloudFormation's " +
		"default and macros are rejected; `RoleARN` is assumed only with `serve --enforce-iam`",
	"CreateStack":              "macros are rejected; `RoleARN` is assumed only with `serve --enforce-iam`",
	"DetectStackDrift":         "covers the properties that the template names",
	"DetectStackResourceDrift": "covers the properties that the template names",
	"UpdateStack":              "as CreateStack",
}
