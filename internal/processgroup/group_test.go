//go:build unix

package processgroup_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"stepback/internal/processgroup"
)

// TestMain acts as the process to be killed if the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("STEPBACK_TO_BE_KILLED") == "" {
		os.Exit(m.Run())
	}
	cmd := exec.Command("/bin/sh", "-c", "sleep 3600 & echo started; wait")
	cmd.Stdout = os.Stdout
	if err := processgroup.Start(cmd); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("known\n") // the keeper knows the group now
	// Wait for the test to kill this process. Without cgo, select {} ends it instead: the runtime sees that no
	// goroutine can continue, and reports a deadlock. A read that waits for the test's pipe is no deadlock.
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestGrandchildrenEndWithAKilledProcess kills a process that cannot end its children. The pipe that all of them hold
// open reaches EOF when the last of them ends.
func TestGrandchildrenEndWithAKilledProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "STEPBACK_TO_BE_KILLED=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe() // stays open while the test runs
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	all := bufio.NewReader(out)
	for seen := ""; !strings.Contains(seen, "started\n") || !strings.Contains(seen, "known\n"); {
		line, err := all.ReadString('\n')
		if seen += line; err != nil {
			t.Fatalf("the grandchild has not started: %q, %v", seen, err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if left, err := io.ReadAll(all); err != nil || len(left) > 0 { // returns when no process holds the pipe open
		t.Errorf("%q, %v", left, err)
	}
	_ = cmd.Wait() // it was killed
}

func TestKillEndsWhatWasStarted(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "sleep 3600 & echo started; exit 3")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	if err := processgroup.Start(cmd); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Fatal(err)
	}
	processgroup.Kill(cmd)
	if text, err := io.ReadAll(r); string(text) != "started\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
