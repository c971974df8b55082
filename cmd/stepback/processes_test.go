package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

// TestLambdaProcesses builds the bootstraps that are deployed to AWS and imports files through them. It is not
// parallel, because it changes the working directory and counts goroutines.
func TestLambdaProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("building three binaries takes a while")
	}
	t.Chdir(filepath.Join("..", ".."))
	first := t.TempDir()
	file := write(t, "user_id,login_count,post_count\n"+strings.Repeat("anna,1,2\nbert,3,4\n", 150)+"carl,x,1\n")
	stepback(t, "run", "--data", first, "--csv", file, "--lambda", "process").ends(t, 3,
		"applied 300", "rejected 1", "1 × ValidationError")
	users := "user_id,login_count,post_count\nanna,150,300\nbert,450,600\n"
	if s := stepback(t, "export", "users", "--data", first); s.out != users {
		t.Errorf("%s", s.out)
	}
	for _, name := range []string{"csv-validate", "csv-process", "csv-aggregate"} {
		stepback(t, "logs", name, "--data", first).ends(t, exit.OK, "REPORT RequestId:")
	}
	bootstraps := filepath.Join(first, "bootstraps")
	common := []string{"run", "--csv", file, "--lambda", "process", "--bootstraps", bootstraps}

	t.Run("faults", func(t *testing.T) {
		data := t.TempDir()
		stepback(t, append(common, "--data", data, "--virtual-time", "--shape", "batch", "--fault", "ProcessSingleUserRecord:crash:10%",
			"--fault", "ProcessSingleUserRecord:hang:3%", "--fault", "AggregateResults:throttle:5%", "--fault",
			"ValidateCSVFile:crash:30%")...).
			ends(t, 3, "Runtime.ExitError", "States.Timeout", "rejected 1")
		if s := stepback(t, "export", "users", "--data", data); s.out != users {
			t.Errorf("%s", s.out)
		}
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		before := runtime.NumGoroutine()
		data := t.TempDir()
		args := append(slices.Clone(common), "--data", data, "--concurrency", "1", "--batch", "1")
		interrupted(t, "ProcessUserRecords", args...).complains(t, 130, "stopped")
		settled(t, before)
		if left := processesOf(t, bootstraps); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
		stepback(t, args...).ends(t, 3, "in the file 301")
		settled(t, before)
		if s := stepback(t, "export", "users", "--data", data); s.out != users {
			t.Errorf("%s", s.out)
		}
	})
	t.Run("bad batches", func(t *testing.T) { badBatches(t, bootstraps) })
	t.Run("too large", func(t *testing.T) {
		stepback(t, append(common, "--data", t.TempDir(), "--max-bytes", "100")...).ends(t, 3,
			"the limit is 100: split the file, or raise the limit (--max-bytes of stepback run, CSV_MAX_BYTES")
	})
	t.Run("missing", func(t *testing.T) {
		dir := t.TempDir()
		stepback(t, "run", "--csv", file, "--data", dir, "--lambda", "process", "--bootstraps", dir).complains(t, 1,
			"make lambdas builds it")
	})
	t.Run("no sources", func(t *testing.T) {
		t.Chdir(t.TempDir())
		stepback(t, "run", "--csv", file, "--data", t.TempDir(), "--lambda", "process").
			complains(t, 2, "build them with make lambdas and name their directory with --bootstraps")
	})
}

// processesOf lists the processes whose executable lies in a directory, on systems that have /proc.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, link := range links {
		if exe, err := os.Readlink(link); err == nil && strings.HasPrefix(exe, dir) {
			found = append(found, exe)
		}
	}
	return found
}
