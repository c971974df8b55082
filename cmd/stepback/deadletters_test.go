package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/outbox"
	"stepback/outbox/sqlitestore"
)

// The steps of an operator: two messages are sent, two become dead letters, one of these is fixed and redriven, the
// other discarded.
func TestRelayAndDeadLetters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	db := "sqlite:" + path
	stepback := func(wantCode int, args ...string) (out, complaints string) {
		t.Helper()
		var stdout, stderr strings.Builder
		code := execute(t.Context(), append(args, "--db", db), terminal.Streams{In: strings.NewReader(`{"n":1}`), Out: &stdout,
			Err: &stderr, Width: 120})
		if code != wantCode {
			t.Fatalf("stepback %s: exit status %d, want %d\n%s%s", strings.Join(args, " "), code, wantCode, &stdout,
				&stderr)
		}
		return stdout.String(), stderr.String()
	}
	holds := func(text string, all ...string) {
		t.Helper()
		for _, want := range all {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}
	stepback(exit.OK, "relay", "--to", "-", "--once") // creates the tables
	application, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer application.Close()
	messages := []outbox.Message{
		{Topic: "order", Payload: []byte(`{"n":`)}, {Topic: "order", Payload: []byte(`{"n":2}`)},
		{Topic: "order", Payload: []byte(`{"n":3}`)}, {Topic: "test", Payload: []byte(`hello`)},
	}
	if err := sqlitestore.Write(t.Context(), application, messages...); err != nil {
		t.Fatal(err)
	}
	out, complaints := stepback(exit.OK, "relay", "--to", "-", "--once")
	holds(out, `"payload":{"n":2}`, `"payload":{"n":3}`)
	holds(complaints, "2 sent, 0 failed and will be tried again, 2 dead", "reason=invalid_payload")

	out, _ = stepback(exit.OK, "deadletters", "list")
	holds(out, "invalid_payload", "InvalidInput", "order", "test")
	out, _ = stepback(exit.OK, "deadletters", "list", "--letters", "--subject", "order", "--json")
	var letters []struct{ ID, Reason string }
	if err := json.Unmarshal([]byte(out), &letters); err != nil || len(letters) != 1 ||
		letters[0].ID != messages[0].ID {
		t.Fatalf("letters are %s, %v", out, err)
	}
	broken, test := messages[0].ID, messages[3].ID

	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte("\ufeff{\n\"n\": }"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, complaints = stepback(exit.Usage, "deadletters", "edit", broken, "--payload", bad)
	holds(complaints, "line 2, column 6", "nothing was changed")
	stepback(exit.OK, "deadletters", "edit", broken, "--payload", "-", "--because", "cut off", "--by", "ann")
	out, _ = stepback(exit.OK, "deadletters", "redrive", broken, "--dry-run")
	holds(out, broken+"  would be redriven")
	out, _ = stepback(exit.OK, "deadletters", "redrive", broken, "--rate", "1000", "--by", "ann")
	holds(out, broken+"  redriven")
	out, complaints = stepback(exit.Data, "deadletters", "redrive", broken, "no-such-id", "--json", "--by", "bob")
	holds(out, `"outcome":"not dead"`, "redriven by ann", `"outcome":"not found"`)
	holds(complaints, "1 not dead", "1 not found")
	out, _ = stepback(exit.OK, "relay", "--to", "-", "--once")
	holds(out, `"payload":{"n":1}`)

	_, complaints = stepback(exit.Usage, "deadletters", "discard", test)
	holds(complaints, "--because")
	stepback(exit.OK, "deadletters", "discard", test, "--because", "a test", "--by", "ann")
	out, _ = stepback(exit.OK, "deadletters", "list")
	holds(out, "no dead letters")
	out, _ = stepback(exit.OK, "deadletters", "show", broken)
	holds(out, "delivered", "payload\n{\"n\":\n", "edited payload, sent instead\n{\"n\":1}", "cut off")
	out, _ = stepback(exit.OK, "deadletters", "log", "--json")
	var acts []struct{ Who, Act, Reason string }
	if err := json.Unmarshal([]byte(out), &acts); err != nil || len(acts) != 3 || acts[0].Act != "discard" ||
		acts[0].Reason != "a test" {
		t.Errorf("acts are %s, %v", out, err)
	}
	for _, args := range [][]string{
		{"deadletters", "redrive"}, {"deadletters", "redrive", broken, "--all"}, {"deadletters", "redrive", "--all",
			"--rate", "-1"},
		{"deadletters", "list", "--letters", "--limit", "0"}, {"relay", "--to", "ftp://host"},
	} {
		stepback(exit.Usage, args...)
	}
	db = "mysql://host/db"
	stepback(exit.Usage, "deadletters", "list")
}

// A copy of a data directory redrives rows into its own database, not into that of the directory that it is a copy of.
func TestDeadLettersOfACopiedDirectory(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	csv := filepath.Join(at, "a.csv")
	if err := os.WriteFile(csv, []byte("user_id,login_count,post_count\nu1,1,1\nu2,2,2\nu3,3,3\nu4,4,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, second := filepath.Join(at, "first"), filepath.Join(at, "second")
	stepback(t, "run", "--csv", csv, "--data", first, "--virtual-time", "--tolerated-failure-percentage", "100",
		"--fault", "ProcessSingleUserRecord:RetryNotWorthwhile:100%", "--fault", "ApplyBatch:RetryNotWorthwhile:100%").
		ends(t, exit.Data, "dead-lettered")
	if err := os.CopyFS(second, os.DirFS(first)); err != nil {
		t.Fatal(err)
	}
	stepback(t, "deadletters", "redrive", "--all", "--rate", "auto", "--data", second).ends(t, exit.OK, "redriven")
	stepback(t, "export", "users", "--data", second).ends(t, exit.OK, "u1,1,1\nu2,2,2\nu3,3,3\nu4,4,4\n")
	if s := stepback(t, "export", "users", "--data", first); strings.Contains(s.out, "u1,") {
		t.Errorf("the copy changed the first directory's database:\n%s", s.out)
	}
}
