//go:build unix

package runner

import (
	"os/exec"
	"syscall"
)

// killGroup kills the process and what it started. The group outlives its leader, so it is killed even when the leader
// has gone; an error means that nobody is left.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
