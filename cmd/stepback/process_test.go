package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// asProcess runs a command line in a separate process.
func asProcess(t *testing.T, args ...string) said {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), "STEPBACK_TEST_AS_COMMAND=1")
	var out, std bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &std
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return said{cmd.ProcessState.ExitCode(), out.String(), std.String()}
}
