// Package jsonpath selects parts of JSON values with the path language of Amazon States Language: the JSONPath
// dialect of the Java library Jayway JsonPath, with the results, quirks and message texts that AWS Step Functions has
// from it.
//
// A path is compiled once and evaluated many times; a compiled Path is immutable and safe for concurrent use.
// Evaluation is bounded: recursion follows the depth of the value, and a path that would visit millions of nodes
// fails instead of hanging.
//
// The package never fetches the value a path starts from: a path states its root (Input, Context or Variable), and
// the caller passes that value in. It never changes a value; Reference.Set returns a changed copy.
package jsonpath
