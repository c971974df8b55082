//go:build unix

package postgrestest

import (
	"os/exec"
	"syscall"
)

// setUser makes a command run as a user.
func setUser(cmd *exec.Cmd, who *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: who.uid, Gid: who.gid}}
}
