//go:build !unix

package postgrestest

import "os/exec"

// setUser does nothing: only root runs a command as another user, and there is no root on this system.
func setUser(*exec.Cmd, *account) {}
