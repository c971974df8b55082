// Package strictyaml reads the YAML files of the laboratory: scenarios and policies. Every member must be known,
// every value must be of its kind and within its bounds, and every complaint names the line, the column and what
// would be accepted.
//
// A caller walks the document with [Value] and [Object] and asks [Reader.Err] at the end. A value that is wrong
// gives its zero value or default, so that one pass finds all problems. The package reads no files and never panics,
// whatever the text.
package strictyaml
