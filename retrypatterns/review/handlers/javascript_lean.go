//go:build lean

package handlers

import "stepback/asl"

// readsJavaScript is false: the build tag lean leaves the parsers of JavaScript and TypeScript out.
const readsJavaScript = false

// javaScript is never called, because Review rejects files of its languages.
func (*file) javaScript() []asl.Diagnostic { return nil }
