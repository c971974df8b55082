package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/csvimport/pipeline"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
)

// crashRows is the number of rows in the files of the crash suite; every crashBad-th of them violates a rule.
const crashRows, crashBad = 2000, 97

// crashFile returns a file, and the users table that importing it must give.
func crashFile(t *testing.T) (file, users string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("user_id,login_count,post_count\n")
	counts := map[string][2]int{}
	for i := range crashRows {
		user := fmt.Sprintf("user%02d", i*7%23)
		if i%crashBad == crashBad-1 {
			fmt.Fprintf(&b, "%s,many,1\n", user)
			continue
		}
		fmt.Fprintf(&b, "%s,%d,%d\n", user, i%50, i%17)
		counts[user] = [2]int{counts[user][0] + i%50, counts[user][1] + i%17}
	}
	lines := make([]string, 0, len(counts))
	for user, n := range counts {
		lines = append(lines, fmt.Sprintf("%s,%d,%d\n", user, n[0], n[1]))
	}
	slices.Sort(lines)
	return write(t, b.String()), "user_id,login_count,post_count\n" + strings.Join(lines, "")
}

// toItsEnd is the time of a run that is not killed. It only ends one that hangs.
const toItsEnd = 10 * time.Minute

// victim is a run of the command in a separate process, on one data directory.
type victim struct {
	data string
	args []string
}

// live runs the command and kills its process after some time, unless it ends before that.
func (v *victim) live(t *testing.T, after time.Duration) (out []byte, killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], v.args...) // kills with SIGKILL
	cmd.Env = append(os.Environ(), "STEPBACK_TEST_AS_COMMAND=1")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return out, true
	}
	if code := cmd.ProcessState.ExitCode(); code != exit.Data {
		t.Fatalf("exit status %d, %v\n%s%s", code, err, out, complaints.String())
	}
	return out, false
}

// seedOr returns the seed in an environment variable: any number of 64 bits, with or without a sign.
func seedOr(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return uint64(n)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, want a number of 64 bits", name, text)
	}
	return n
}

// countOr returns a count in an environment variable, at least 1.
func countOr(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, want a number from 1 on", name, text)
	}
	return n
}

// An import that is killed at random instants and restarted until it ends gives the right result, for many data
// directories, until there were enough kills. STEPBACK_CRASH_SEED and STEPBACK_CRASH_KILLS choose the instants and
// their number; see make crash.
func TestCrashes(t *testing.T) {
	if testing.Short() {
		t.Skip("processes are started and killed for a while")
	}
	seed, kills := seedOr(t, "STEPBACK_CRASH_SEED", 1), countOr(t, "STEPBACK_CRASH_KILLS", 12)
	random := rand.New(rand.NewPCG(seed, 0))
	file, users := crashFile(t)
	common := []string{"run", "--csv", file, "--json", "--batch", "10", "--concurrency", "4"}
	undisturbed := victim{t.TempDir(), common}
	undisturbed.args = append(slices.Clone(common), "--data", undisturbed.data)
	began := time.Now()
	whole, _ := undisturbed.live(t, toItsEnd)
	long := time.Since(began)
	for killed, job := int64(0), 0; killed < kills; job++ {
		v := victim{data: t.TempDir()}
		v.args = append(slices.Clone(common), "--data", v.data)
		// retries, which wait in virtual time; with these seeds AggregateResults never fails its last attempt
		if job%2 == 1 {
			v.args = append(v.args, "--virtual-time", "--seed", strconv.Itoa(job%40),
				"--fault", "ProcessSingleUserRecord:DatabaseConnectionError:5%", "--fault",
				"AggregateResults:throttle:30%")
		}
		lives, limit := 1, 1+random.IntN(8)
		for ; ; lives++ {
			after := toItsEnd
			if lives <= limit && killed < kills {
				after = time.Duration(random.Int64N(int64(long)))
			}
			began := time.Now()
			out, dead := v.live(t, after)
			if !dead {
				if lives == 1 { // the machine may be less busy than before
					long = min(long, time.Since(began))
				}
				v.check(t, out, whole, users)
				break
			}
			killed++
		}
		t.Logf("job %d of seed %d ended in its life number %d", job, seed, lives)
	}
}

// check checks everything about a data directory whose import has ended.
func (v *victim) check(t *testing.T, out, whole []byte, users string) {
	t.Helper()
	var got, want pipeline.Report
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := json.Unmarshal(whole, &want); err != nil {
		t.Fatal(err)
	}
	if got.Rows == nil || *got.Rows != *want.Rows || got.Execution != want.Execution {
		t.Errorf("the report says %+v of %s, an undisturbed one %+v of %s", got.Rows, got.Execution, want.Rows,
			want.Execution)
	}
	if s := stepback(t, "export", "users", "--data", v.data); s.out != users {
		t.Errorf("users:\n%s\nwant\n%s", s.out, users)
	}
	for _, left := range []string{"map-results-*", "objects/csv-results/work/*"} {
		found, err := filepath.Glob(filepath.Join(v.data, left))
		if err != nil {
			t.Fatal(err)
		}
		for _, root := range found {
			if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				// A kill between the removal of an object's file and of its directory leaves the directory, which no
				// listing shows.
				if err == nil && !d.IsDir() {
					t.Errorf("left behind: %s", path)
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		}
	}
	v.checkJournal(t, got.Execution)
	v.checkTold(t)
}

// checkTold checks that each message of the import was published at least once, and under one ID only.
func (v *victim) checkTold(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(v.data, "notifications.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]map[string]bool{}
	for line := range bytes.Lines(text) {
		var n struct{ TopicArn, Message string }
		var m struct{ ID, Topic string }
		if json.Unmarshal(line, &n) != nil || !strings.HasSuffix(n.TopicArn, ":csv-import-events") {
			continue // a line torn by a kill, or another topic
		}
		if err := json.Unmarshal([]byte(n.Message), &m); err != nil {
			t.Fatal(err)
		}
		if ids[m.Topic] == nil {
			ids[m.Topic] = map[string]bool{}
		}
		ids[m.Topic][m.ID] = true
	}
	if len(ids) != 2 || len(ids["csv-import.finished"]) != 1 || len(ids["csv-import.dead-letters"]) != 1 {
		t.Errorf("the import has told %v", ids)
	}
}

// checkJournal checks that every execution has ended with a well-formed history, and that each item had exactly one
// execution.
func (v *victim) checkJournal(t *testing.T, root string) {
	t.Helper()
	j, err := pebble.Open(filepath.Join(v.data, "journal"), pebble.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	items, roots := make([]int, crashRows), 0
	for x, err := range j.Executions(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		events, err := j.History(t.Context(), x.ARN)
		if err != nil {
			t.Errorf("%s is %s: %v", x.ARN, x.Status, err)
			continue
		}
		checkHistory(t, x, events)
		if x.MapRunARN == "" {
			roots++
			continue
		}
		for i := x.FirstItem; i < x.FirstItem+x.Items; i++ {
			items[i]++
		}
	}
	if roots != 1 {
		t.Errorf("%d executions beside child executions, want only %s", roots, root)
	}
	for i, n := range items {
		if n != 1 {
			t.Errorf("item %d has %d child executions", i, n)
		}
	}
	for u, err := range j.Unfinished(t.Context(), "") {
		t.Errorf("unfinished: %+v, %v", u, err)
	}
}

// checkHistory checks the history of an ended execution: no transition is missing or duplicated.
func checkHistory(t *testing.T, x *journal.Execution, events []history.Event) {
	t.Helper()
	open := map[string]int{} // states entered and not left
	for i := range events {
		e := &events[i]
		if e.ID != int64(i)+1 || e.Previous >= e.ID || i > 0 && e.Time < events[i-1].Time {
			t.Errorf("%s: event %d is %+v", x.ARN, i+1, e)
		}
		if e.Type.Terminal() != (i == len(events)-1) {
			t.Errorf("%s: event %d of %d is %s", x.ARN, i+1, len(events), e.Type)
		}
		switch {
		case e.Type.Entered():
			open[e.Name]++
		case strings.HasSuffix(e.Type.String(), "StateExited"):
			open[e.Name]--
		}
		if open[e.Name] < 0 {
			t.Errorf("%s: event %d leaves %s once too often", x.ARN, i+1, e.Name)
		}
	}
	for state, n := range open {
		if n != 0 && x.Status == history.Succeeded {
			t.Errorf("%s: %s was entered %d times more than left", x.ARN, state, n)
		}
	}
	if int64(len(events)) != x.HistorySize || x.Stop.Before(x.Start) {
		t.Errorf("%s: %d events: %+v", x.ARN, len(events), x)
	}
}
