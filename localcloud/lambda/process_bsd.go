//go:build unix && !linux

package lambda

import (
	"os/exec"
	"syscall"
)

func inOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
