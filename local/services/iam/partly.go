package iam

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AttachGroupPolicy":          "as AttachRolePolicy",
	"AttachRolePolicy":           "AWS's own policies can be attached by any name; of some twenty the actions are known, the others grant nothing",
	"AttachUserPolicy":           "as AttachRolePolicy",
	"CreateServiceLinkedRole":    "the name is made of the service's, which AWS spells otherwise for some",
	"CreateRole":                 "policies are evaluated with `serve --enforce-iam` only",
	"PutRolePermissionsBoundary": "evaluated with `serve --enforce-iam` only",
	"PutUserPermissionsBoundary": "evaluated with `serve --enforce-iam` only",
	"SimulateCustomPolicy":       "`MatchedStatements` and `MissingContextValues` are empty; no details of decisions; `ResourceHandlingOption` is ignored",
	"SimulatePrincipalPolicy":    "as SimulateCustomPolicy",
}
