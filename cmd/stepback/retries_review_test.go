package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

func TestRetriesReview(t *testing.T) {
	t.Parallel()
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fixed := file("fixed.asl.json", `{"StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:pay",
  "TimeoutSeconds": 10, "Retry": [{"ErrorEquals": ["Busy"], "BackoffRate": 1}], "End": true}}}`)
	plain := file("plain.asl.json", `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`)
	wrong := file("wrong.asl.json", `{"StartAt": "B", "States": {"A": {"Type": "Succeed"}}}`)

	stepback(t, "retries", "review", fixed, plain).ends(t, 0, "fixed.asl.json:2:76: warning FIXED_INTERVAL",
		"NO_JITTER",
		"fixed.asl.json: 2 warnings", "/States/Pay", "43s", "plain.asl.json: nothing found")
	stepback(t, "retries", "review", "--strict", plain).ends(t, 0)
	stepback(t, "retries", "review", "--strict", fixed).ends(t, exit.Data)
	stepback(t, "retries", "review", plain, wrong).ends(t, exit.Data, "wrong.asl.json: not valid, not reviewed")

	s := stepback(t, "retries", "review", "--json", fixed)
	s.ends(t, 0, `"code": "FIXED_INTERVAL"`, `"longestWaitSeconds": 3`)
	var all []struct{ States []struct{ Retries int } }
	if err := json.Unmarshal([]byte(s.out), &all); err != nil || len(all) != 1 || all[0].States[0].Retries != 3 {
		t.Errorf("%v: %s", err, s.out)
	}

	stepback(t, "retries", "review", "--fail-on", "warning", fixed).ends(t, exit.Data)
	stepback(t, "retries", "review", "--explain", "no_jitter").ends(t, 0, "NO_JITTER (warning)", "JitterStrategy FULL")
	stepback(t, "retries", "review", "--explain", "all").ends(t, 0, "METASTABLE_ABOVE", "CATCH_LOOP_RETRIES_FOREVER")
	stepback(t, "retries", "review", "--explain", "NO_SUCH").complains(t, exit.Usage, "there is no rule NO_SUCH")
	stepback(t, "retries", "review").complains(t, exit.Usage, "name the definitions")
	stepback(t, "retries", "review", "--rate", "20", fixed).complains(t, exit.Usage, "--rate needs --capacity")
	stepback(t, "retries", "review", "--rate", "20", "--capacity", "25", fixed).ends(t, 0, "METASTABLE_ABOVE",
		"Safe up to 6.25 a second, 25 % of the capacity")
	stepback(t, "retries", "review", "--sarif", fixed).ends(t, 0, `"version": "2.1.0"`, `"ruleId": "FIXED_INTERVAL"`,
		`"startLine": 2`, `"level": "warning"`)
	stepback(t, "retries", "review", "--fix", fixed).ends(t, 0, "fixed.asl.json: fixed: 2, left: nothing found")
	text, err := os.ReadFile(fixed)
	if err != nil || !strings.Contains(string(text),
		`{"IntervalSeconds": 2, "JitterStrategy": "FULL", "ErrorEquals": ["Busy"], "BackoffRate": 2}`) {
		t.Errorf("%v: %s", err, text)
	}
}
