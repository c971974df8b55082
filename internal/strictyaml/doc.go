// Package strictyaml parses the laboratory's YAML files: scenarios and policies. Every member must be known, every
// value must have the right type and be within its bounds, and every problem names the line, the column and what
// would be accepted.
//
// A caller walks the document with [Value] and [Object] and calls [Reader.Err] at the end. An invalid value gives its
// zero value or default, so that one pass finds all problems. The package reads no files and never panics, whatever
// the text.
package strictyaml
