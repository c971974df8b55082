package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPredict(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 600 {
		name, succeeded := "States.Timeout", i%10 == 0
		if i%2 == 1 {
			name, succeeded = "DeadlockException", i%10 != 1
		}
		fmt.Fprintf(&lines,
			`{"at":"2026-11-%02dT%02d:00:00Z","execution":"e%d","error":%q,"attempt":1,"succeeded":%v}`+"\n",
			1+i/24, i%24, i, name, succeeded)
	}
	dir := t.TempDir()
	examples, model := filepath.Join(dir, "retries.jsonl"), filepath.Join(dir, "model.json")
	if err := os.WriteFile(examples, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "predict", "train", examples, "-o", model).ends(t, 0,
		"shrunk-rates, of 600 retries from 2026-11-01 to 2026-11-25")
	stepback(t, "predict", "show", model).ends(t, 0, "base-rate", "shrunk-rates")
	trained, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "\ufeff" // programs of Windows write it
	for name, text := range map[string]string{model: mark + string(trained), examples: mark + lines.String()} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stepback(t, "predict", "show", model).ends(t, 0, "base-rate")
	stepback(t, "adapt", "--state-machine", "arn:aws:states:us-east-1:123456789012:stateMachine:saves", "--rows", t.TempDir(),
		"--value", "1", "--model", model, "--history").ends(t, 0, "no records")
	stepback(t, "predict", "train", examples, "-o", model).ends(t, 0, "of 600 retries from 2026-11-01 to 2026-11-25")
	if err := os.WriteFile(examples, []byte(lines.String()+"{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "predict", "train", examples, "-o", model).ends(t, 1)
	stepback(t, "predict", "show", examples).ends(t, 1)
}
