//go:build !unix && !windows

package processgroup

import "os/exec"

// Start starts a command.
func Start(cmd *exec.Cmd) error { return cmd.Start() }

// Kill kills the process. An error, which means that it has already exited, is ignored.
func Kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
