package runtimes

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"stepback/internal/ctxerr"
)

// language describes a kind of interpreter.
type language struct {
	name string
	// candidates returns the commands to try for a version, in order of preference.
	candidates func(version string) []string
	// probe holds the arguments that make the interpreter print its path and its version on two lines.
	probe []string
	// least is the oldest version that can run the client.
	least [2]int
	// command returns the command that starts a script, without the script, for a function with this much memory in MB.
	command func(path string, memoryMB int) []string
	env     map[string]string
	// inherits lists variables of this process that functions inherit.
	inherits []string
}

var python = language{
	name:       "Python",
	candidates: func(version string) []string { return []string{"python" + version, "python3", "python"} },
	probe:      []string{"-c", `import sys; print(sys.executable); print("%d.%d.%d" % sys.version_info[:3])`},
	least:      [2]int{3, 8},
	command:    func(path string, _ int) []string { return []string{path, "-u"} },
	env:        map[string]string{"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"},
}

var node = language{
	name:       "Node.js",
	candidates: func(version string) []string { return []string{"node" + version, "node", "nodejs"} },
	probe:      []string{"-e", `console.log(process.execPath); console.log(process.versions.node)`},
	least:      [2]int{18, 0},
	command:    nodeCommand,
	inherits:   []string{"NODE_PATH"}, // AWS's runtime includes its SDK; here it may be found through this path
}

// nodeCommand limits the heap as the bootstrap of AWS's runtime does: a tenth of the memory is for new objects, and the
// rest for old ones. Without these limits, V8 collects garbage so late that a function exceeds a memory that suffices
// on Lambda.
func nodeCommand(path string, memoryMB int) []string {
	if memoryMB == 0 {
		return []string{path}
	}
	const newShare, semiSpaces = 10, 2
	young := memoryMB / newShare
	return []string{path, fmt.Sprintf("--max-semi-space-size=%d", young/semiSpaces),
		fmt.Sprintf("--max-old-space-size=%d", memoryMB-young)}
}

// interpreter is an interpreter that is installed on this machine.
type interpreter struct{ path, version string }

// probeTimeout is the time limit for an interpreter to report its version. On a busy machine, a shim such as that of
// pyenv can take more than ten seconds.
const probeTimeout = time.Minute

// answers holds what the interpreters of this machine have reported, for all Sets of this process.
var answers = struct {
	mu sync.Mutex
	of map[string]*answer // by path
}{of: map[string]*answer{}}

// answer holds the report of an interpreter. turn is full while the interpreter is asked, so that it is asked once at a
// time.
type answer struct {
	turn  chan struct{}
	known bool
	interpreter
}

// answerOf returns the answer of the interpreter with a path, which may not be known yet.
func answerOf(path string) *answer {
	answers.mu.Lock()
	defer answers.mu.Unlock()
	a := answers.of[path]
	if a == nil {
		a = &answer{turn: make(chan struct{}, 1)}
		answers.of[path] = a
	}
	return a
}

// interpreter returns the interpreter for a runtime: the version that the runtime names, or any other that is new
// enough. The result is cached.
func (s *Set) interpreter(ctx context.Context, runtime string, l language) (interpreter, error) {
	s.mu.Lock()
	i, ok := s.found[runtime]
	s.mu.Unlock()
	if ok {
		return i, nil
	}
	i, err := l.find(ctx, versionOf(runtime))
	if err != nil {
		return interpreter{}, fmt.Errorf("functions of the runtime %s need %s on this machine: %w", runtime, l.name,
			err)
	}
	s.mu.Lock()
	s.found[runtime] = i
	s.mu.Unlock()
	return i, nil
}

// versionOf returns the version in a runtime's name: 3.12 for python3.12 and 22 for nodejs22.x.
func versionOf(runtime string) string {
	return strings.TrimSuffix(strings.TrimLeft(runtime, "abcdefghijklmnopqrstuvwxyz"), ".x")
}

func (l language) find(ctx context.Context, version string) (interpreter, error) {
	var problems []error
	for _, command := range l.candidates(version) {
		path, err := exec.LookPath(command)
		if err != nil {
			continue
		}
		i, err := l.ask(ctx, path)
		if err == nil {
			return i, nil
		}
		problems = append(problems, fmt.Errorf("%s: %w", path, err))
	}
	advice := fmt.Errorf("install %s %s, so that %q is on the PATH", l.name, version, l.candidates(version)[1])
	return interpreter{}, errors.Join(append([]error{advice}, problems...)...)
}

// ask returns the real path of an interpreter, which a shim on the PATH hides, and its version. It runs the interpreter
// unless this process has done so before.
func (l language) ask(ctx context.Context, path string) (interpreter, error) {
	a := answerOf(path)
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return interpreter{}, ctxerr.Of(ctx)
	}
	if a.known {
		return a.interpreter, nil
	}
	i, err := l.run(ctx, path)
	if err == nil {
		a.interpreter, a.known = i, true
	}
	return i, err
}

func (l language) run(ctx context.Context, path string) (interpreter, error) {
	limited, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(limited, path, l.probe...) //nolint:gosec // an interpreter on the owner's PATH
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return interpreter{}, ctxerr.Of(ctx)
	case limited.Err() != nil:
		return interpreter{}, fmt.Errorf("it did not report its version within %s", probeTimeout)
	case err != nil:
		return interpreter{}, err
	}
	real, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	i := interpreter{strings.TrimSpace(real), strings.TrimSpace(version)}
	var got [2]int
	if _, err := fmt.Sscanf(i.version, "%d.%d", &got[0], &got[1]); err != nil || i.path == "" {
		return interpreter{}, fmt.Errorf("it does not say its version but %.100q", out)
	}
	if got[0] < l.least[0] || got[0] == l.least[0] && got[1] < l.least[1] {
		return interpreter{}, fmt.Errorf("version %s is older than %d.%d", i.version, l.least[0], l.least[1])
	}
	return i, nil
}
