package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/cmd/stepback/buildinfo"
	"stepback/cmd/stepback/exit"
	"stepback/local"
)

// A second process's verbs are run by the server that has the directory open, with the same output as when they run
// alone.
func TestVerbsTravel(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := write(t, "user_id,login_count,post_count\nanna,1,2\nbert,3,4\ncarl,x,1\n")
	stepback(t, "run", "--csv", file, "--data", data, "--shape", "batch", "--tolerated-failure-percentage", "50").ends(t, exit.Data,
		"applied 2")
	type verb struct{ out, args string }
	var alone []verb
	for _, args := range []string{
		"data export", "data check", "history activity", "history activity --children --json",
		"logs /aws/vendedlogs/states/csv-import", "retries analyze --json",
	} {
		s := stepback(t, append(strings.Fields(args), "--data", data)...)
		if s.code != exit.OK || s.out == "" {
			t.Fatalf("%s: %d %s %s", args, s.code, s.out, s.err)
		}
		alone = append(alone, verb{s.out, args})
	}
	_, stop := serving(t, data)
	defer stop()
	for _, v := range alone {
		if s := stepback(t, append(strings.Fields(v.args), "--data", data)...); s.code != exit.OK || s.out != v.out {
			t.Errorf("%s: %d, on the server\n%s%s\nalone\n%s", v.args, s.code, s.out, s.err, v.out)
		}
	}
	drawn := filepath.Join(t.TempDir(), "retry.svg")
	stepback(t, "dashboard", "render", "--data", data, "-o", drawn).ends(t, exit.OK, drawn)
	if text, err := os.ReadFile(drawn); err != nil || !bytes.Contains(text, []byte("<svg")) {
		t.Errorf("%.100s, %v", text, err)
	}
	examples := filepath.Join(t.TempDir(), "retries.jsonl")
	stepback(t, "predict", "examples", "--data", data, "-o", examples).ends(t, exit.OK)
	if _, err := os.Stat(examples); err != nil {
		t.Error(err)
	}
	stepback(t, "history", "nobody", "--data", data).complains(t, exit.Failure,
		`stepback: no execution is called "nobody"`)
	designed := filepath.Join(t.TempDir(), "orders.design.json")
	problem := filepath.Join(filepath.Dir(designed), "orders.yaml")
	if err := os.WriteFile(problem, []byte(designFile), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "retries", "design", problem, "-o", designed).ends(t, exit.OK)
	stepback(t, "retries", "analyze", "--design", designed, "--data", data).complains(t, exit.Failure,
		"the record has 0 tasks of the state Save and covers no period of 5m0s")
	stepback(t, "data", "compact", "--data", data).complains(t, exit.Usage, "the journal cannot be compacted",
		"end it first")
	stepback(t, "run", "--virtual-time", "--csv", file, "--data", data).complains(t, exit.Usage, "--virtual-time",
		"give --fault to stepback serve")
}

// Retries are held and released in the server that has the directory open.
func TestHoldAndRelease(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stepback(t, "hold", "--all", "--data", data).complains(t, exit.Failure, "no process serves")
	url, stop := serving(t, data)
	defer stop()
	stepback(t, "hold", "--data", data).complains(t, exit.Usage, "select the retries to hold")
	stepback(t, "hold", "--error", "Busy", "--data", data).ends(t, exit.OK, "any", "Busy")
	stepback(t, "hold", "--list", "--json", "--data", data).ends(t, exit.OK, `"error": "Busy"`, `"due": 0`)
	if text, err := os.ReadFile(filepath.Join(data, "pacing.json")); err != nil || !strings.Contains(string(text), `"Busy"`) {
		t.Errorf("%s, %v", text, err)
	}
	stepback(t, "release", "--error", "Odd", "--data", data).complains(t, exit.Failure, "there is no such hold")
	stepback(t, "release", "--error", "Busy", "--data", data).ends(t, exit.OK, "released: 1 hold, with 0 due")
	stepback(t, "hold", "--list", "--data", data).ends(t, exit.OK, "no holds")
	stepback(t, "limit", "charge", "--data", data).complains(t, exit.Usage, "give calls per second after the callee")
	stepback(t, "limit", "charge", "-1", "--data", data).complains(t, exit.Usage)
	stepback(t, "limit", "charge", "20", "--data", data).ends(t, exit.OK, "charge", "20")
	stepback(t, "limit", "charge", "0.5", "--data", data).ends(t, exit.OK, "charge", "0.5")
	stepback(t, "hold", "--machine", "orders", "--data", data).ends(t, exit.OK, "orders")
	answer, err := http.Get(url + "/_stepback/retries")
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || !strings.Contains(string(page), "Held retries") || !strings.Contains(string(page), "orders") ||
		!strings.Contains(string(page), "Limited calls") || !strings.Contains(string(page), "charge") {
		t.Errorf("%v: %s", err, page)
	}
	stepback(t, "release", "--all", "--data", data).ends(t, exit.OK, "released: 1 hold")
	stepback(t, "limit", "--json", "--data", data).ends(t, exit.OK, `"perSecond": 0.5`)
	stepback(t, "limit", "charge", "off", "--data", data).ends(t, exit.OK, "no limits")
}

// A file is imported in the server that has the directory open, and the server shows it like everything else.
func TestImportsTravel(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	_, stop := serving(t, data)
	file := write(t, "user_id,login_count,post_count\nanna,1,2\nbert,3,4\n")
	stepback(t, "run", "--csv", file, "--data", data).ends(t, exit.OK, "applied 2")
	stepback(t, "run", "--csv", file, "--data", data).ends(t, exit.OK, "This file was already imported")
	stop()
	url, stop := serving(t, data)
	defer stop()
	states := clientsOf(url).states
	machines, err := states.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{})
	if err != nil || len(machines.StateMachines) != 1 || *machines.StateMachines[0].Name != "csv-import" {
		t.Fatalf("%+v, %v", machines, err)
	}
	executions, err := states.ListExecutions(t.Context(), &sfn.ListExecutionsInput{
		StateMachineArn: machines.StateMachines[0].StateMachineArn})
	if err != nil || len(executions.Executions) != 1 {
		t.Fatalf("%+v, %v", executions, err)
	}
	runs, err := states.ListMapRuns(t.Context(), &sfn.ListMapRunsInput{
		ExecutionArn: executions.Executions[0].ExecutionArn})
	if err != nil || len(runs.MapRuns) != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	functions, err := clientsOf(url).lambda.ListFunctions(t.Context(), &awslambda.ListFunctionsInput{})
	if err != nil || len(functions.Functions) != 3 {
		t.Errorf("%+v, %v", functions, err)
	}
	// Any upload to the bucket starts an import, as on AWS.
	clientsOf(url).upload(t, "csv-input", "more.csv", []byte("user_id,login_count,post_count\ncarl,5,6\n"))
	for len(executions.Executions) != 2 || executions.Executions[0].Status != "SUCCEEDED" {
		executions, err = states.ListExecutions(t.Context(), &sfn.ListExecutionsInput{
			StateMachineArn: machines.StateMachines[0].StateMachineArn})
		if err != nil {
			t.Fatal(err)
		}
		wait(t)
	}
	stepback(t, "export", "users", "--data", data).ends(t, exit.OK, "anna,1,2\nbert,3,4\ncarl,5,6\n")
}

// exec can use the buckets and functions of the server that has the directory open.
func TestExecBesideAServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	url, stop := serving(t, data)
	defer stop()
	clientsOf(url).upload(t, "shared", "greeting.txt", []byte("hello"))
	definition := filepath.Join(t.TempDir(), "read.asl.json")
	err := os.WriteFile(definition, []byte(`{"StartAt":"R","States":{"R":{"Type":"Task","Resource":`+
		`"arn:aws:states:::aws-sdk:s3:getObject","Parameters":{"Bucket":"shared","Key":"greeting.txt"},`+
		`"OutputPath":"$.Body","End":true}}}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	stepback(t, "exec", definition, "--data", data).ends(t, exit.OK, `"hello"`)
}

func TestControlRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	_, stop := serving(t, data)
	defer stop()
	server, err := local.Running(t.Context(), data)
	if err != nil || server == nil {
		t.Fatalf("%v, %v", server, err)
	}
	for body, want := range map[string]string{
		`{`: "The request cannot be read", `{"verb":"serve"}`: "another version",
		`{"verb":"history","version":"x"}`:                                              "another version",
		`{"verb":"history","version":"` + buildinfo.Version() + `","flags":{"JSON":7}}`: "The flags cannot be read",
	} {
		answer, err := server.Ask(t.Context(), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		_, _ = text.ReadFrom(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest || !strings.Contains(text.String(), want) {
			t.Errorf("%s: %d %s", body, answer.StatusCode, &text)
		}
	}
}
