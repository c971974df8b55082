//go:build unix

package standin

import (
	"context"
	"os/exec"
	"syscall"
)

// shell is a command line that is killed with everything that it has started when the context ends.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line) //nolint:gosec // running what the user names is its purpose
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}
