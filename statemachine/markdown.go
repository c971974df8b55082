package statemachine

import (
	"io"

	"stepback/retrypatterns"
)

// WriteRetryPatterns writes docs/retry-patterns.md: the patterns, the error map, the rows of each state of
// [DefaultTable], the presets and the classification of errors. The error is the writer's.
func WriteRetryPatterns(w io.Writer) error {
	_, err := io.WriteString(w, "# Retry patterns\n\n"+
		"This page is generated from packages `retry`, `retrypatterns` and `statemachine` by\n"+
		"`go generate ./statemachine`; do not edit it.\n\n"+
		"*source* marks rows of the source design, with its original numbers; *addition* marks rows that close a gap "+
		"in it.\n")
	if err != nil {
		return err
	}
	return retrypatterns.WriteMarkdown(w, DefaultTable())
}
