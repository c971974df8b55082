package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

const designFile = `design: 1
name: save-orders
state: Save
arrivals: {rate: 2}
callee: {servers: 2, mean: 0.2}
period: 300
faults: [{name: outage, for: 20, errors: 1}]
objective: {saved: 0.95, within: 300}
`

const savedByDesign = `{"StartAt":"Save","States":{"Save":{
  "Type":"Task",
  "Resource":"arn:aws:states:::lambda:invoke",
  "Parameters":{"FunctionName":"save"},
  "End":true}}}
`

func TestRetriesDesign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file, definition := write("orders.yaml", designFile), write("orders.asl.json", savedByDesign)
	result, page := filepath.Join(dir, "orders.design.json"), filepath.Join(dir, "orders.html")
	stepback(t, "retries", "design", file, "--definition", definition, "--write", "-o", result, "--report", page).ends(t, exit.OK,
		"design: ", "predictions for a period of 5m0s", "bounds by theory", "as a row of a retry table", "task.addRetry",
		"--- a/orders.asl.json", `+  "TimeoutSeconds": 2,`)
	changed, err := os.ReadFile(definition)
	if err != nil || !strings.Contains(string(changed), `"JitterStrategy":"FULL"`) {
		t.Errorf("%v in %s", err, changed)
	}
	if html, err := os.ReadFile(page); err != nil || strings.Count(string(html), "<svg") != 2 {
		t.Errorf("%v, %.200s", err, html)
	}
	stepback(t, "validate", definition).ends(t, exit.OK)
	impossible := write("impossible.yaml", strings.Replace(designFile, "saved: 0.95, within: 300", "saved: 0.999, within: 2", 1))
	stepback(t, "retries", "design", impossible).ends(t, exit.Failure, "cannot be met, because outage: no policy can save more than",
		"the nearest is: ")
	stepback(t, "retries", "design", write("other.yaml", strings.Replace(designFile, "design: 1", "design: 7", 1))).complains(t,
		exit.Usage, "other.yaml:1:9: design: this is version 7 of the design file")
	marked, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	stepback(t, "retries", "design", write("marked.json", "\ufeff"+string(marked))).ends(t, exit.OK, "design: ")
	stepback(t, "retries", "design", file, "--write").complains(t, exit.Usage, "--write needs --definition")
	stepback(t, "retries", "analyze", "--design", file).complains(t, exit.Usage, "has no predictions")
	stepback(t, "retries", "analyze", "--next", file).complains(t, exit.Usage, "need --design")

	data, csv := filepath.Join(dir, "data"), filepath.Join(dir, "activity.csv")
	stepback(t, "sample", "--rows", "200", "-o", csv).ends(t, exit.OK)
	stepback(t, "run", "--csv", csv, "--data", data, "--virtual-time").ends(t, exit.OK)
	stepback(t, "retries", "analyze", "--design", result, "--data", data).complains(t, exit.Failure,
		"the record has 0 tasks of the state Save and covers no period of 5m0s")
	short := write("short.yaml", "design: 1\nname: i\nstate: ApplyBatch\nobjective: {saved: 0.9}\n")
	stepback(t, "retries", "design", short, "--fit", "--data", data).complains(t, exit.Failure, "the record is too small")
	stepback(t, "retries", "design", short).complains(t, exit.Usage, "arrivals")
}
