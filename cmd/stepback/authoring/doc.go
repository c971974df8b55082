// Package authoring implements the verbs for authors of state machines, which check, print, run and test definitions,
// and write an example or a test.
package authoring
