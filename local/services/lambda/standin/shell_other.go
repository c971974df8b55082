//go:build !unix

package standin

import (
	"context"
	"os/exec"
)

// shell is a command line that is killed when the context ends.
func shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/C", line) //nolint:gosec // running what the user names is what it is for
}
