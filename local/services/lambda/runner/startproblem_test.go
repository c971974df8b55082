package runner_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

func TestABootstrapThatDoesNotStartSaysWhy(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the messages of other systems differ")
	}
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"not executable": {"#!/bin/sh\n", 0o644,
			"permission denied: the file is not executable; chmod 755 it before it is zipped"},
		"no interpreter": {"#!/no/such/shell\n", 0o755, "the interpreter that its first line names"},
		"no program":     {"hello", 0o755, "a script needs a first line such as #!/bin/sh"},
		"another processor": {foreignProgram(), 0o755, "it is built for linux/riscv and this machine is " +
			runtime.GOOS + "/" + runtime.GOARCH + "; build it with GOOS=linux GOARCH=" + runtime.GOARCH},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "bootstrap")
			if err := os.WriteFile(path, []byte(c.content), c.mode); err != nil {
				t.Fatal(err)
			}
			s := serve(t, runner.Function{Name: "F", Command: []string{path}}, runner.Options{})
			out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
			if err != nil || !strings.Contains(string(out.Payload), `"errorType":"Runtime.InvalidEntrypoint"`) ||
				!strings.Contains(string(out.Payload), c.want) {
				t.Errorf("%s, %v\nwant %s", out.Payload, err, c.want)
			}
		})
	}
}

// foreignProgram is the header of a program for RISC-V.
func foreignProgram() string {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	for at, v := range map[int]uint16{16: 2, 18: 243, 20: 1, 52: 64, 54: 56, 58: 64} {
		binary.LittleEndian.PutUint16(b[at:], v)
	}
	return string(b)
}
