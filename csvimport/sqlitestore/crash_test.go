package sqlitestore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"stepback/csvimport"
)

const (
	crashDatabase = "STEPBACK_TEST_CRASH_DATABASE"
	crashAfter    = "STEPBACK_TEST_CRASH_AFTER"
	crashRows     = 60
)

var crashRun = csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}

// TestMain also runs the child process that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(crashDatabase); path != "" {
		if err := applyUntilKilled(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// applyUntilKilled applies all rows and kills its own process after a number of commits, before any caller gets an
// answer.
func applyUntilKilled(path string) error {
	left, err := strconv.Atoi(os.Getenv(crashAfter))
	if err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := open(ctx, path, Full, func() {
		if left--; left == 0 {
			_ = self.Kill()
			select {} // no more answers
		}
	})
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make([]error, crashRows+crashRows/10)
	for row := range int64(crashRows) {
		if row%10 == 0 { // several groups, with a batch of 200 rows in each
			all.Wait()
			all.Go(func() {
				var rows []csvimport.Row
				for n := range int64(200) {
					rows = append(rows, csvimport.Row{Number: crashRows + 20*row + n,
						Increment: csvimport.Increment{UserID: "batch", LoginCount: 1, PostCount: n}})
				}
				_, errs[crashRows+row/10] = s.ApplyBatch(ctx, crashRun, rows)
			})
		}
		all.Go(func() {
			_, errs[row] = s.Apply(ctx, crashRun, row, csvimport.Increment{UserID: "u", LoginCount: 1, PostCount: row})
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return s.Close()
}

// TestCrashBetweenCommitAndAnswer kills a process after 1, 2, 3 … commits and restarts it with the same records,
// until a run completes.
func TestCrashBetweenCommitAndAnswer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	crashes := 0
	for after := 1; ; after++ {
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(os.Environ(), crashDatabase+"="+path, crashAfter+"="+strconv.Itoa(after))
		if after > 4 {
			cmd.Env = append(cmd.Env, crashAfter+"=1000000") // the last value wins
		}
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		if cmd.ProcessState.Exited() {
			t.Fatalf("the child process failed by itself: %v\n%s", err, out)
		}
		crashes++
	}
	if crashes != 4 {
		t.Errorf("%d crashes, want 4", crashes)
	}
	s, err := Open(t.Context(), path, Full)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Export(t.Context(), func(u csvimport.User) error {
		want := csvimport.User{UserID: "u", LoginCount: crashRows, PostCount: crashRows * (crashRows - 1) / 2}
		if u.UserID == "batch" {
			want = csvimport.User{UserID: "batch", LoginCount: crashRows / 10 * 200, PostCount: crashRows / 10 * 200 * 199 / 2}
		}
		if u != want {
			t.Errorf("user is %+v, want %+v", u, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
