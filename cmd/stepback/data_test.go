package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

func TestData(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stepback(t, "data", "check", "--data", data).complains(t, 1, "there is no journal in")
	stepback(t, "run", "--data", data, "--csv", write(t, "user_id,login_count,post_count\nanna,1,2\nbert,3,4\n"),
		"--batch", "1").ends(t, 0)
	stepback(t, "data", "check", "--data", data).ends(t, 0, "3 executions, 3 of them ended",
		"1 Map Run; 1 definition; problems: 0")

	lines := strings.Split(strings.TrimSpace(stepback(t, "data", "export", "--data", data).out), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		var x struct {
			Execution journal.Execution
			Events    []struct{ ID int64 }
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if n := len(x.Events); int64(n) != x.Execution.HistorySize || x.Events[n-1].ID != int64(n) {
			t.Errorf("%s has %d events", x.Execution.ARN, n)
		}
	}
	one := stepback(t, "data", "export", "--data", data, "--prefix",
		"arn:aws:states:us-east-1:000000000000:execution:csv-import:")
	if strings.Count(one.out, "\n") != 1 {
		t.Errorf("with a prefix: %s", one.out)
	}
	stepback(t, "data", "compact", "--data", data).ends(t, 0, "removed 0 executions and 0 definitions")
	stepback(t, "data", "compact", "--data", data, "--older-than", "0s").ends(t, 0,
		"removed 1 execution and 1 definition")
	stepback(t, "data", "check", "--data", data).ends(t, 0, "0 executions")
	stepback(t, "data", "compact", "--data", data, "--older-than=-1s").complains(t, 2,
		"--older-than -1s is not a positive age")
}

// TestAChangedCounterIsTold changes a value of the import's database: data check names the page and its table, and
// neither an export nor a further import uses the value.
func TestAChangedCounterIsTold(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stepback(t, "run", "--data", data, "--csv", write(t, "user_id,login_count,post_count\nanna,1,2\nbert,3,4\n")).
		ends(t, 0)
	path := filepath.Join(data, "users.db")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(text, []byte("anna"))
	text[at+3] = 'e'
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "data", "check", "--data", data).ends(t, 1, "users.db is damaged: page ", " of users (not the checksum")
	stepback(t, "export", "users", "--db", "sqlite:"+path).
		complains(t, 1, "does not have the checksum with which it was written")
	stepback(t, "run", "--data", data, "--csv", write(t, "user_id,login_count,post_count\nanne,1,2\n")).
		ends(t, 3, "1 × StorageError")
	stepback(t, "data", "repair", "--data", data).ends(t, 1, "users.db is damaged")
}

// The history that a killed process left can be shown.
func TestHistoryOfAnExecutionThatHasNotEnded(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	j, err := pebble.Open(filepath.Join(data, "journal"), pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	x := journaltest.Begun("arn:aws:states:us-east-1:000000000000:execution:m:half")
	x.Name = "half"
	journaltest.Commit(t, j, journaltest.First(x))
	journaltest.Commit(t, j, journaltest.Second(x))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	stepback(t, "history", "half", "--data", data).ends(t, 0, "RUNNING", "not ended", "ExecutionStarted",
		"TaskSucceeded")
	if s := stepback(t, "data", "export", "--data", data); strings.Count(s.out, `"id"`) != 2 {
		t.Errorf("%s", s.out)
	}
}
