// Package jsonpath selects parts of JSON values with the path language of Amazon States Language. This is the
// JSONPath dialect of the Java library Jayway JsonPath. AWS Step Functions uses that library, and the package has
// the same results, quirks and message texts.
//
// A path is compiled once and evaluated many times; a compiled Path is immutable and safe for concurrent use.
// Evaluation is bounded: recursion follows the depth of the value, and a path that would visit millions of nodes
// fails instead of hanging.
//
// The package never fetches the value a path starts from: a path states its root (Input, Context or Variable), and
// the caller passes that value in. It never changes a value; Reference.Set returns a changed copy.
package jsonpath
