// Package template evaluates the payload templates of Amazon States Language: Parameters, ResultSelector, ItemSelector, Assign,
// BatchInput and the like. A member whose name ends in ".$" takes its value from a path or an intrinsic function call and
// loses the ending; everything else is literal, at any depth.
//
// A template is compiled once and evaluated many times; a compiled Template is immutable and safe for concurrent use, and its
// literal parts are shared by all results.
//
// The package knows nothing of states and reads no data of its own: values come from the caller's intrinsic.Env.
package template
