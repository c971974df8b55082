package runner

import (
	"os/exec"
	"syscall"
)

// inOwnGroup puts a process into a group of its own, and has the system kill it when this process is killed and cannot
// do it itself. (Linux does so at the end of the thread that started it; threads of Go live as long as the process,
// unless a goroutine that is locked to one ends.)
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
