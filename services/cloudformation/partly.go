package cloudformation

// partly says what operations that are served do not do.
var partly = map[string]string{
	"CreateChangeSet": "`DeploymentMode` and `OnStackFailure` beyond CloudFormation's " +
		"default, `RollbackTriggers`, `ResourceTypes` and macros are refused; `RoleARN` is kept and not assumed",
	"CreateStack": "`ResourceTypes`, `RollbackTriggers`, policies by URL and macros are refused; `RoleARN` is kept " +
		"and not assumed",
	"DetectStackDrift":         "of the properties that the template names",
	"DetectStackResourceDrift": "of the properties that the template names",
	"SetStackPolicy":           "no policies by URL",
	"UpdateStack":              "as CreateStack",
}
