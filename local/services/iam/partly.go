package iam

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AttachGroupPolicy":          "as AttachRolePolicy",
	"AttachRolePolicy":           "AWS's own policies can be attached by any name; for about 35 of them the actions are known, the others grant nothing",
	"AttachUserPolicy":           "as AttachRolePolicy",
	"CreateServiceLinkedRole":    "the role's name is derived from the service's; AWS spells some of them differently",
	"CreateRole":                 "policies are evaluated only with `serve --enforce-iam`",
	"PutRolePermissionsBoundary": "evaluated only with `serve --enforce-iam`",
	"PutUserPermissionsBoundary": "evaluated only with `serve --enforce-iam`",
	"SimulateCustomPolicy":       "`MatchedStatements` and `MissingContextValues` are empty; no details of decisions; `ResourceHandlingOption` is ignored",
	"SimulatePrincipalPolicy":    "as SimulateCustomPolicy",
}
