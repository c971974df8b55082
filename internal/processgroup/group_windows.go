package processgroup

import (
	"os/exec"
	"strconv"
)

// Start starts a command.
func Start(cmd *exec.Cmd) error { return cmd.Start() }

// Kill kills the process and its descendants. An error, which means that no process is left, is ignored.
func Kill(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID",
		strconv.Itoa(cmd.Process.Pid)).Run() //nolint:noctx // it ends by itself
	_ = cmd.Process.Kill()
}
