// Package handlers reviews the source code of durable Lambda functions, in JavaScript, TypeScript and Go, as far as a
// syntax tree shows. It finds side effects and values that differ between replays outside steps, retries without limit
// or jitter, steps that may do their work twice, and retries inside retries. Each kind of finding is a rule (Rules).
//
// It reads one file at a time and executes nothing. It follows calls of functions in the same file, and lists the
// others (Report.NotFollowed). Calls through methods, interfaces and computed names are not followed. A comment
// "stepback:ignore CODE reason" on the line of a finding, or on a line of its own above, silences the rule there.
//
// JavaScript and TypeScript are parsed by two kept libraries: esbuild removes the types, and the parser of sobek reads
// what is left. Go is parsed by go/parser; go/types resolves names, without the packages that the file imports.
//
//go:generate go test . -run TestDocsAreCurrent -update
package handlers
