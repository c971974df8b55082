package processgroup

import "syscall"

// attributes have the system kill the process itself at once when this process is killed. (Linux does so at the end of
// the thread that started it; threads of Go live as long as the process, unless a goroutine that is locked to one
// ends.)
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
