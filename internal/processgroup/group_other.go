//go:build !unix && !windows

package processgroup

import "os/exec"

// Start starts a command.
func Start(cmd *exec.Cmd) error { return cmd.Start() }

// Kill kills the process; an error means that it has gone.
func Kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
