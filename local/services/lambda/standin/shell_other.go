//go:build !unix

package standin

import (
	"context"
	"os/exec"
)

// shell returns a command that is killed when ctx ends.
func shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/C", line) //nolint:gosec // running what the user names is what it is for
}
