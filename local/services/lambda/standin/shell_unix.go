//go:build unix

package standin

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns a command that is killed with all its child processes when ctx ends.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line) //nolint:gosec // running what the user names is its purpose
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}
