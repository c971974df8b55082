// Package template reads CloudFormation templates: JSON, and YAML with its short forms, with line and column of what is
// wrong. It checks parameters, evaluates conditions and intrinsic functions, finds what resources need each other, and
// expands the transforms AWS::LanguageExtensions (Expand) and AWS::Serverless (package sam).
//
// Values are plain Go: map[string]any, []any, string, json.Number, bool and nil. The package does no I/O: what
// resources, exports and parameters of SSM are worth is asked of an Env. It knows no type of resources.
package template
