package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
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
	fixed := file("fixed.asl.json", `{"StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "q", "MessageBody": "b"},
  "TimeoutSeconds": 10, "Retry": [{"ErrorEquals": ["Busy"], "BackoffRate": 1}], "End": true}}}`)
	plain := file("plain.asl.json", `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`)
	wrong := file("wrong.asl.json", `{"StartAt": "B", "States": {"A": {"Type": "Succeed"}}}`)

	stepback(t, "retries", "review", fixed, plain).ends(t, 0, "fixed.asl.json:2:76: advice FIXED_INTERVAL", "NO_JITTER",
		"fixed.asl.json: pieces of advice: 2", "/States/Pay", "43s", "plain.asl.json: no advice")
	stepback(t, "retries", "review", "--strict", plain).ends(t, 0)
	stepback(t, "retries", "review", "--strict", fixed).ends(t, exitData)
	stepback(t, "retries", "review", plain, wrong).ends(t, exitData, "wrong.asl.json: not valid, not reviewed")

	s := stepback(t, "retries", "review", "--json", fixed)
	s.ends(t, 0, `"code": "FIXED_INTERVAL"`, `"longestWaitSeconds": 3`)
	var all []struct{ States []struct{ Retries int } }
	if err := json.Unmarshal([]byte(s.out), &all); err != nil || len(all) != 1 || all[0].States[0].Retries != 3 {
		t.Errorf("%v: %s", err, s.out)
	}
}
