//go:build unix

package processgroup

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// Start starts a command in a new process group. The caller waits for the command and then calls Kill.
func Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return err
	}
	theKeeper.tell("+", cmd.Process.Pid)
	return nil
}

// Kill kills the process that Start started and its descendants. The process group outlives its leader, so Kill is
// useful even after the leader has ended.
func Kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error means that no process is left
	theKeeper.tell("-", cmd.Process.Pid)
}

// theKeeper is the keeper of this process.
var theKeeper keeper

// keeper is a small shell that kills process groups if this process ends without being able to do so itself, as
// after kill -9. It reads the current groups from a pipe, which is closed when this process ends. The shell starts
// with the first group and exits by itself after this process. If no shell is available, only the operating
// system's own means end the groups with this process.
type keeper struct {
	once sync.Once

	mu   sync.Mutex
	pipe io.Writer // nil if there is no shell
}

// script keeps a set of groups: an input line with a plus adds a group and one with a minus removes it. At the end
// of the input it kills the remaining groups.
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
		k.pipe = nil // the shell has been killed
	}
}

// start starts the shell in a separate group, so that a signal to the group of this process does not end it.
func (k *keeper) start() {
	cmd := exec.Command("/bin/sh", "-c", script) //nolint:noctx // it outlives this process
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setpgid: true}
	if in, err := cmd.StdinPipe(); err == nil && cmd.Start() == nil {
		k.pipe = in
	}
}
