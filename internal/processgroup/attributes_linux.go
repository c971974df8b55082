package processgroup

import "syscall"

// attributes returns attributes that make the kernel kill the child process at once when this process is killed.
// (Linux does so when the thread that started the child ends. Go's threads live as long as the process, unless a
// goroutine that is locked to one ends.)
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
