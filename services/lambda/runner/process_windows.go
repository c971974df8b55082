package runner

import (
	"os/exec"
	"strconv"
)

func inOwnGroup(*exec.Cmd) {}

// killGroup kills the process and what it started; an error means that nobody is left.
func killGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID",
		strconv.Itoa(cmd.Process.Pid)).Run() //nolint:noctx // it ends by itself
	_ = cmd.Process.Kill()
}
