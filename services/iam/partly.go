package iam

// partly says what operations that are served do not do.
var partly = map[string]string{
	"AttachGroupPolicy":          "as AttachRolePolicy",
	"AttachRolePolicy":           "AWS's own policies can be attached by any name; their documents are not here",
	"AttachUserPolicy":           "as AttachRolePolicy",
	"CreateRole":                 "policies are evaluated for nobody, and everybody can assume the role",
	"PutRolePermissionsBoundary": "kept, and evaluated for nobody",
	"PutUserPermissionsBoundary": "kept, and evaluated for nobody",
}
