//go:build unix

package processgroup

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// Start starts a command in a process group of its own. The caller waits for it, and calls Kill behind that.
func Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return err
	}
	theKeeper.tell("+", cmd.Process.Pid)
	return nil
}

// Kill kills what Start started and whatever that has started. The group outlives its leader, so it is of use when the
// leader has ended, too.
func Kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error means that nobody is left
	theKeeper.tell("-", cmd.Process.Pid)
}

// theKeeper is that of this process.
var theKeeper keeper

// keeper is a small shell that kills process groups when this process is gone and cannot do it itself, as after kill
// -9: it reads from a pipe which groups there are, and the end of this process is the end of the pipe. It is started
// with the first group and ends behind this process, by itself. Without a shell groups end with this process as far as
// the system sees to that.
type keeper struct {
	once sync.Once

	mu   sync.Mutex
	pipe io.Writer // nil without a shell
}

// script remembers the groups behind a plus until they come behind a minus, and kills them at the end.
const script = `trap '' HUP INT TERM
groups=
while read -r what group; do
  case $what in
    +) groups="$groups $group" ;;
    -) left=
       for g in $groups; do [ "$g" = "$group" ] || left="$left $g"; done
       groups=$left ;;
  esac
done
for g in $groups; do kill -9 "-$g" 2>/dev/null; done`

func (k *keeper) tell(what string, group int) {
	k.once.Do(k.start)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pipe == nil {
		return
	}
	if _, err := fmt.Fprintf(k.pipe, "%s %d\n", what, group); err != nil {
		k.pipe = nil // somebody has ended the shell
	}
}

// start starts the shell, in a group of its own, so that a signal to the group of this process does not end it.
func (k *keeper) start() {
	cmd := exec.Command("/bin/sh", "-c", script) //nolint:noctx // it outlives this process
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setpgid: true}
	if in, err := cmd.StdinPipe(); err == nil && cmd.Start() == nil {
		k.pipe = in
	}
}
