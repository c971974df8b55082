// Package template parses CloudFormation templates: JSON, and YAML with its short forms, and reports errors with line
// and column. It checks parameters, evaluates conditions and intrinsic functions, finds the dependencies between
// resources, and expands the transforms AWS::LanguageExtensions (Expand) and AWS::Serverless (package sam).
//
// Values are plain Go: map[string]any, []any, string, json.Number, bool and nil. The package does no I/O: the values
// of resources, exports and SSM parameters come from an Env. It does not know any resource types.
package template
