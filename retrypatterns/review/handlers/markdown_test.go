package handlers

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the reference page of the rules. It returns the writer's error.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# The rules of `stepback retries review` for code\n\n" +
		"This page is generated from package `retrypatterns/review/handlers` by `go generate ./retrypatterns/review/handlers`; do not\n" +
		"edit it.\n\n" +
		"`stepback retries review` reads the source files of durable Lambda functions: JavaScript and TypeScript with\n" +
		"`@aws/durable-execution-sdk-js`, and Go with `github.com/aws/aws-durable-execution-sdk-go`. `error`: will fail. `warning`: will\n" +
		"fail under stress. `advice`: worth knowing. A comment `stepback:ignore CODE reason` silences a rule on its line, or on the next\n" +
		"line if it stands alone. [Durable functions](durable-functions.md#review-the-code) says what the review does not see.\n\n" +
		"| rule | severity | finds |\n|---|---|---|\n")
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", r.Code, strings.ToLower(string(r.Code)), strings.ToLower(string(r.Severity)), r.Title)
	}
	for _, r := range Rules() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", r.Code, r.Why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
