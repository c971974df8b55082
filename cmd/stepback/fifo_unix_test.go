//go:build unix

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stepback/cmd/stepback/terminal"
)

// Verbs that read a named pipe without a writer can be ended.
func TestAPipeThatNobodyWritesIntoIsGivenUp(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "definition.asl.json")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip("there are no named pipes here:", err)
	}
	for _, verb := range [][]string{{"validate", fifo}, {"retries", "review", fifo}, {"exec", fifo, "--input", "{}"},
		{"test", fifo}, {"definition", fifo}, {"graph", fifo}, {"cost", fifo}, {"test-state", fifo, "--state", "A"},
		{"retries", "explain", fifo}} {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		var out, err bytes.Buffer
		if code := execute(ctx, verb, terminal.Streams{Out: &out, Err: &err}); code == 0 ||
			!strings.Contains(err.String()+out.String(), "interrupted") {
			t.Errorf("%v: status %d\n%s%s", verb, code, &out, &err)
		}
	}
}
