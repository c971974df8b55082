package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/adaptive/analysis"
	"stepback/cmd/stepback/exit"
)

func TestRetriesAnalyzeAndWhatif(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "activity.csv")
	stepback(t, "sample", "--rows", "400", "-o", file).ends(t, exit.OK)
	run := stepback(t, "run", "--csv", file, "--data", data, "--batch", "2", "--virtual-time", "--fault",
		"ProcessSingleUserRecord:DatabaseConnectionError:0.3", "--tolerated-failure-percentage", "100")
	if run.code != exit.OK && run.code != exit.Data {
		t.Fatal(run.code, run.err)
	}
	whole := stepback(t, "retries", "analyze", "--data", data)
	whole.ends(t, exit.OK, "201 executions", "too little data", "prices of us-east-1")
	// The run begins at the real time, so it may cross the boundary of a spell.
	if !strings.Contains(whole.out, "in one spell of 5m0s") && !strings.Contains(whole.out, "in 2 spells of 5m0s") {
		t.Error(whole.out)
	}
	s := stepback(t, "retries", "analyze", "--data", data, "--spell", "100ms", "--json")
	var r analysis.Report
	if err := json.Unmarshal([]byte(s.out), &r); err != nil || s.code != exit.OK || len(r.Classes) == 0 ||
		r.Classes[0].Retries[0].Verdict != analysis.Pays || *r.Recommendations[0].From != 4 {
		t.Errorf("%d %v %s%s", s.code, err, s.out, s.err)
	}
	examples := filepath.Join(t.TempDir(), "retries.jsonl")
	stepback(t, "predict", "examples", "--data", data, "-o", examples).ends(t, exit.OK, "retries in "+examples)
	stepback(t, "predict", "examples", "--data", data).ends(t, exit.OK,
		`"error":"DatabaseConnectionError","attempt":1,"sinceFirst":`)
	policy := func(text string) string {
		path := filepath.Join(t.TempDir(), "policy.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whatif := func(policy string) said { return stepback(t, "retries", "whatif", "--data", data, "--policy", policy) }
	whatif(policy(`{"ProcessSingleUserRecord":[]}`)).ends(t, exit.OK, "level: exact", "instead", "assumption A1")
	whatif(policy(`{"ProcessSingleUserRecord":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":20}]}`)).ends(t, exit.OK,
		"level: bracketed", "at worst", "at best", "assumption A2")
	whatif(policy("\ufeff{\"ProcessSingleUserRecord\":[]}\r\n")).ends(t, exit.OK, "level: exact")
	whatif(policy("states:\n  ProcessSingleUserRecord:\n    timeout: 30s\n    retry: [{errors: [States.ALL], retries: 0}]\n")).ends(t,
		exit.OK, "level: exact", "instead")
	whatif(policy("states:\n  ProcessSingleUserRecord:\n    retry: []\n")).complains(t, exit.Usage, "policy.json:3:5: ")
	whatif(policy(`{"Save":[]}`)).complains(t, exit.Failure, "no task of the policy's states")
	whatif(policy(`{"Save":`)).complains(t, exit.Usage, "policy.json")
	whatif("missing.json").complains(t, exit.Usage, "missing.json")
	stepback(t, "retries", "analyze", "--data", data, "--days", "0").complains(t, exit.Usage, "--days is 0")
	stepback(t, "retries", "analyze", "--data", data, "--value=-1").complains(t, exit.Usage, "the value is -1")
	stepback(t, "retries", "analyze", "--aws", "--endpoint", "http://localhost:1").complains(t, exit.Usage,
		"exclude each other")
	stepback(t, "retries", "analyze", "--data", filepath.Join(data, "none")).complains(t, exit.Failure,
		"there is no journal")
}
