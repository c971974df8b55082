package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/csvimport/pipeline"
)

// said holds what a command line wrote, and its exit code.
type said struct {
	code     int
	out, err string
}

// stepback runs a command line in this process, without a terminal.
func stepback(t *testing.T, args ...string) said {
	t.Helper()
	return stepbackUnder(t.Context(), args...)
}

func stepbackUnder(ctx context.Context, args ...string) said {
	var out, err bytes.Buffer
	code := execute(ctx, args, terminal.Streams{Out: &out, Err: &err, Width: 80})
	return said{code, out.String(), err.String()}
}

var blanks = regexp.MustCompile(" +")

// ends checks the exit code, and that standard output contains the texts. The widths of tables do not matter.
func (s said) ends(t *testing.T, code int, texts ...string) {
	t.Helper()
	if s.code != code {
		t.Errorf("exit code %d, want %d\n%s\n%s", s.code, code, s.out, s.err)
	}
	for _, text := range texts {
		if !strings.Contains(blanks.ReplaceAllString(s.out, " "), blanks.ReplaceAllString(text, " ")) {
			t.Errorf("standard output lacks %q:\n%s", text, s.out)
		}
	}
}

// complains checks that a command line failed with a message on standard error and printed nothing on standard
// output.
func (s said) complains(t *testing.T, code int, texts ...string) {
	t.Helper()
	if s.code != code || s.out != "" {
		t.Errorf("exit code %d, want %d, with %q on standard output", s.code, code, s.out)
	}
	for _, text := range texts {
		if !strings.Contains(s.err, text) {
			t.Errorf("standard error lacks %q:\n%s", text, s.err)
		}
	}
}

func write(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "activity.csv")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"", "Exit status: 0 success; 1 failure; 2 wrong usage;"},
		{"--help", "Run \"stepback <command> --help\" for more information on a command."},
		{"run --help", "stepback run --csv activity.csv --fault ApplyBatch:DatabaseConnectionError:50%"},
		{"export --help", "export users"},
		{"export users --help", "stepback export users --data .stepback > users.csv"},
		{"history --help", "--children"},
		{"sample --help", "stepback sample --rows 100000 --seed 7 -o activity.csv"},
		{"retries --help", "retries explain"},
		{"retries show --help", "stepback retries show"},
		{"retries explain --help", "stepback retries explain ProcessSingleUserRecord"},
	} {
		s := stepback(t, strings.Fields(test.args)...)
		s.ends(t, 0, test.want)
		if s.err != "" {
			t.Errorf("%q writes %q to standard error", test.args, s.err)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, test := range []struct {
		args string
		want []string
	}{
		{"bogus", []string{"stepback: unexpected argument bogus", "Usage: stepback <command>"}},
		{"ls", []string{"did you mean stepback executions?"}},
		{"ui", []string{"did you mean stepback serve, which has a console in the browser?"}},
		{"run --bogus", []string{"stepback: unknown flag --bogus", "Usage: stepback run"}},
		{"run --csv " + dir + "/missing.csv", []string{"stepback: --csv: " + dir +
			"/missing.csv: no such file or directory"}},
		{"run --csv " + dir, []string{"exists but is a directory"}},
		{"run --batch many", []string{`--batch: expected a valid 64 bit int but got "many"`}},
		{"run --batch 0", []string{"--concurrency and --batch must be 1 or more"}},
		{"run --batch=-1", []string{"batch -1 is not between 1 and 500"}},
		{"run --batch 501", []string{"batch 501 is not between 1 and 500"}},
		{"run --batch -1", []string{`--batch: expected int value but got "-1", which begins with a dash: write --batch="-1"`}},
		{"run --max-bytes=-1", []string{"-1 is not a number of bytes"}},
		{"run --max-bytes 1x", []string{"1x is not a number of bytes such as 104857600, 200MB or 2GiB"}},
		{"data compact --older-than 90x", []string{"90x is neither a number of days nor a duration"}},
		{"run --concurrency 0", []string{"--concurrency and --batch must be 1 or more"}},
		{"run --concurrency 20000", []string{"concurrency 20000 is not between 1 and 10,000"}},
		{"run --tolerated-failure-percentage 101",
			[]string{"tolerated failure percentage 101 is not between 0 and 100"}},
		{"run --tolerated-failure-percentage NaN",
			[]string{"tolerated failure percentage NaN is not between 0 and 100"}},
		{"run --db mysql://h/d", []string{`database "mysql://h/d" is neither sqlite nor a postgres:// address`}},
		{"run --lambda docker", []string{`--lambda must be one of "in-process","process" but got "docker"`}},
		{"run --fault ProcessSingleUserRecord:hang",
			[]string{`has 2 parts separated by colons, not 3: a fault is STATE:ERROR:RATE, for example`}},
		{"run --fault Nowhere:hang:1%", []string{`there is no state "Nowhere"; the states are ValidateCSVFile, ValidateRange, ApplyBatch, ProcessSingleUserRecord, AggregateResults`}},
		{"run --fault AggregateResults:Hang:1%", []string{`"Hang": write it "hang"`}},
		{"run --fault AggregateResults:hang:2",
			[]string{`the rate "2" is neither a number from 0 to 1 nor a percentage from 0% to 100%`}},
		{"run --fault AggregateResults:States.ALL:1", []string{"no task can fail with States.ALL"}},
		{"sample --rows=-1", []string{"--rows and --users must not be negative"}},
		{"sample --invalid 2", []string{"--invalid must be between 0 and 1"}},
		{"retries explain", []string{"expected \"<state|file>\""}},
		{"retries explain Nowhere", []string{`no state "Nowhere" has retries; one of ValidateCSVFile, ValidateRange, ApplyBatch, ProcessSingleUserRecord, AggregateResults`}},
		{"history", []string{"expected \"<execution>\""}},
		{"export", []string{"expected \"users\""}},
		{"export users --db oracle", []string{`database "oracle" is neither sqlite nor a postgres:// address`}},
	} {
		args := strings.Fields(test.args)
		if args[0] == "run" {
			args = append(args, "--data", filepath.Join(dir, "data"))
		}
		stepback(t, args...).complains(t, 2, test.want...)
	}
	if terminal.Exists(filepath.Join(dir, "data")) {
		t.Error("a wrong command line made a data directory")
	}
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "nothing")
	stepback(t, "export", "users", "--data", dir).complains(t, 1, "there is no database at "+dir+
		"/users.db; stepback run creates one")
	stepback(t, "history", "x", "--data", dir).complains(t, 1, "there is no journal in "+dir+
		"; name the data directory of a run with --data")
	if terminal.Exists(dir) {
		t.Error("looking made a data directory")
	}
}

func TestASampleRun(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := stepback(t, "run", "--data", data, "--virtual-time")
	s.ends(t, 0, "SUCCEEDED  sample-10000-rows-csv-", "applied 10,000", "in the file 10,000",
		"43 attempts, ",
		data+"/objects/csv-results/output/", data+"/notifications.jsonl", "stepback history sample-10000-rows-csv-")
	if strings.Contains(s.err, "\r") || strings.Contains(s.err, "\x1b") {
		t.Errorf("there is no terminal, and yet: %q", s.err)
	}
	s = stepback(t, "run", "--data", data, "--virtual-time")
	s.ends(t, 0, "This file was already imported; nothing was done. Use --again to import it once more. The earlier report:",
		"applied 10,000")
	s = stepback(t, "run", "--data", data, "--virtual-time", "--again")
	s.ends(t, 0, "applied 0", "already applied 10,000")
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	const header = "user_id,login_count,post_count\n"
	good := header + strings.Repeat("anna,1,2\n", 40)
	for name, test := range map[string]struct {
		content string
		args    []string
		code    int
		want    []string
	}{
		"all applied": {good, nil, 0, []string{"SUCCEEDED  activity-csv-"}},
		"a row rejected": {
			good + "bert,x,2\n", nil, 3,
			[]string{"rejected 1", "1 × ValidationError", "Correct the rows in the corrections file and import it"},
		},
		"too many rejected": {header + "anna,1,2\nbert,x,2\n", nil, 3, []string{"FAILED  activity-csv-",
			"ToleratedFailurePercentageExceeded: 1 rejected"}},
		"file refused": {
			"", nil, 3,
			[]string{"CSVFileEmpty in ValidateCSVFile: ", "is empty (0 bytes): upload a file with a header and rows",
				"Correct the file and import it again"},
		},
		"file too large": {good, []string{"--max-bytes", "390"}, 3,
			[]string{"has 391 bytes, the limit is 390: split the file, or raise the limit (--max-bytes of stepback run, CSV_MAX_BYTES"}},
		"file not too large": {good, []string{"--max-bytes", "391"}, 0, []string{"SUCCEEDED  activity-csv-"}},
		"rows dead-lettered": {
			good, []string{"--fault", "ProcessSingleUserRecord:RetryNotWorthwhile:10%",
				"--tolerated-failure-percentage",
				"50"}, 3,
			[]string{"not retried", "Fix the cause, then import the corrections file"},
		},
		"validation fails": {
			good, []string{"--fault", "ValidateCSVFile:hang:1"}, 1,
			[]string{"States.Timeout in ValidateCSVFile: No attempt returned within the state's timeout",
				"minimal", "use --again to import the remaining rows"},
		},
		"aggregation fails": {
			good, []string{"--fault", "AggregateResults:throttle:1"}, 1,
			[]string{"Lambda.TooManyRequestsException in AggregateResults", "use --again to import the remaining rows"},
		},
		"every record fails": {
			good, []string{"--fault", "ProcessSingleUserRecord:DatabaseConnectionError:1"}, 3,
			[]string{"ToleratedFailurePercentageExceeded", "dead-lettered 40", "database_optimized",
				"40 × DatabaseConnectionError"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"run", "--csv", write(t, test.content), "--data", t.TempDir(), "--virtual-time"}
			stepback(t, append(args, test.args...)...).ends(t, test.code, test.want...)
		})
	}
}

func TestJSONAddsUp(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(data, "activity.csv")
	stepback(t, "sample", "--rows", "500", "--seed", "3", "--invalid", "0.02", "-o", file).ends(t, 0)
	args := []string{
		"run", "--csv", file, "--data", data, "--shape", "batch", "--virtual-time", "--json",
		"--fault", "ProcessSingleUserRecord:DeadlockException:20%", "--fault", "ProcessSingleUserRecord:hang:5%",
	}
	s := stepback(t, args...)
	s.ends(t, 3)
	if s.err != "" {
		t.Errorf("standard error: %q", s.err)
	}
	var r pipeline.Report
	decoder := json.NewDecoder(strings.NewReader(s.out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if n := r.Rows; n.Total != 500 || n.Applied+n.AlreadyApplied+n.Rejected+n.DeadLettered != 500 || n.Rejected == 0 {
		t.Errorf("%+v", *n)
	}
	var failures, injected int64
	for _, x := range r.Retries {
		failures += x.Failures
	}
	for _, n := range r.Injected {
		injected += int64(n)
	}
	if failures != injected+r.Rows.Rejected || r.Attempts != 500+3+sumOf(r.Retries) {
		t.Errorf("%d failures, %d injected, %d attempts: %+v", failures, injected, r.Attempts, r)
	}
	second := stepback(t, args...)
	second.ends(t, 3, `"earlier": true`)
	if err := json.Unmarshal([]byte(second.out), new(pipeline.Report)); err != nil {
		t.Error(err)
	}
}

func sumOf(retries []pipeline.Retry) (n int64) {
	for _, x := range retries {
		n += x.Retries
	}
	return n
}

func TestExportUsers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := write(t, "user_id,login_count,post_count\nbert,1,2\nanna,3,4\nbert,5,6\n\"x,y \"\"z\"\"\",7,8\n")
	stepback(t, "run", "--csv", file, "--data", data).ends(t, 0)
	s := stepback(t, "export", "users", "--data", data)
	s.ends(t, 0)
	if want := "user_id,login_count,post_count\nanna,3,4\nbert,6,8\n\"x,y \"\"z\"\"\",7,8\n"; s.out != want {
		t.Errorf("exported\n%swant\n%s", s.out, want)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := write(t, "user_id,login_count,post_count\nbert,1,2\nanna,3,4\nbert,5,6\n")
	stepback(t, "run", "--csv", file, "--data", data, "--batch", "2", "--virtual-time", "--fault",
		"ProcessSingleUserRecord:hang:1").ends(t, 3, "the events of a dead letter, line ", " (States.Timeout):",
		"stepback history activity-csv-", "--row ")
	stepback(t, "history", "activity-csv", "--data", data, "--row", "2").ends(t, 0, "#0 TaskTimedOut",
		"MapIterationStarted ProcessOneByOne #0", "DeadLetterRecord")
	stepback(t, "history", "activity-csv", "--data", data, "--row", "3").complains(t, 1, "has the row 3")
	stepback(t, "history", "activity-csv", "--data", data, "--failed").complains(t, 2, "add --children")
	stepback(t, "history", "activity-csv", "--data", data, "--children", "--failed").ends(t, 0,
		"failed attempts  retries  latest error", "States.Timeout")
	stepback(t, "history", "activity-csv", "--data", data).ends(t, 0,
		"FAILED, ", "1      +0.000s  ExecutionStarted", "TaskStateEntered ValidateCSVFile",
		"MapRunStarted arn:aws:states:", "ExecutionFailed ToleratedFailurePercentageExceeded")
	s := stepback(t, "history", "activity-csv", "--data", data, "--children")
	s.ends(t, 0, "child execution", "SUCCEEDED")
	lines := strings.Split(strings.TrimSpace(s.out), "\n")
	if len(lines) < 3 {
		t.Fatalf("%q", lines)
	}
	child := strings.Fields(lines[len(lines)-1])[0]
	s = stepback(t, "history", "activity-csv", "--data", data, "--children", "--json")
	s.ends(t, 0)
	var listed []string
	for line := range strings.Lines(s.out) {
		var x struct{ ExecutionArn, Name, Status string }
		if err := json.Unmarshal([]byte(line), &x); err != nil || x.Status != "SUCCEEDED" ||
			!strings.HasSuffix(x.ExecutionArn, ":"+x.Name) {
			t.Errorf("%v: %s", err, line)
		}
		listed = append(listed, x.Name)
	}
	if len(listed) != 2 || listed[1] != child {
		t.Errorf("children as JSON are %q", listed)
	}
	stepback(t, "history", child, "--data", data).ends(t, 0, "MapIterationStarted ProcessOneByOne #0",
		"TaskTimedOut lambda:invoke States.Timeout", "DeadLetterRecord")
	s = stepback(t, "history", child, "--data", data, "--json")
	s.ends(t, 0)
	var h struct {
		Events []struct {
			ID, PreviousEventID int64
			Type                string
			Timestamp           float64
		}
	}
	if err := json.Unmarshal([]byte(s.out), &h); err != nil || len(h.Events) < 20 ||
		h.Events[0].Type != "ExecutionStarted" || h.Events[0].ID != 1 {
		t.Errorf("%v: %+v", err, h)
	}
	stepback(t, "history", "nobody", "--data", data).complains(t, 1, `no execution is called "nobody"`)
	stepback(t, "history", "arn:aws:states:us-east-1:000000000000:execution:csv-import:nobody", "--data",
		data).complains(t, 1, "no execution has the ARN arn:aws:states:")
	stepback(t, "run", "--csv", file, "--data", data, "--again").ends(t, 3, "3 × RetryNotWorthwhile",
		"import the corrections file")
	stepback(t, "history", "activity", "--data", data).complains(t, 1,
		`"activity" matches 2 executions, for example activity-csv-`, "give more of the name")
}

func TestOneProcessPerDataDirectory(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p, err := pipeline.Open(t.Context(), pipeline.Config{Dir: data})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	file := write(t, "user_id,login_count,post_count\n")
	for _, args := range [][]string{{"run", "--csv", file}, {"history", "x"}, {"data", "compact"}} {
		stepback(t, append(args, "--data", data)...).complains(t, 1, "is in use by process", "end it first")
	}
	stepback(t, "serve", "--listen", "127.0.0.1:0", "--data", data).complains(t, 1, "is in use by process",
		"which serves it at http://127.0.0.1:", "use that address, or end the process first")
}

func TestADataDirectoryThatIsAFile(t *testing.T) {
	t.Parallel()
	file := write(t, "user_id,login_count,post_count\n")
	stepback(t, "run", "--csv", file, "--data", file).complains(t, 1, "data directory: "+file+": not a directory")
}

func TestSample(t *testing.T) {
	t.Parallel()
	first, second := stepback(t, "sample", "--rows", "3", "--seed", "9"), stepback(t, "sample", "--rows", "3", "--seed",
		"9")
	first.ends(t, 0, "user_id,login_count,post_count\nuser0000001,")
	if first.out != second.out || strings.Count(first.out, "\n") != 4 {
		t.Errorf("%q and %q", first.out, second.out)
	}
	stepback(t, "sample", "--rows", "1", "--japanese").ends(t, 0, "ユーザーID,ログイン回数,投稿回数\n")
	stepback(t, "sample", "-o", filepath.Join(t.TempDir(), "no", "such.csv")).complains(t, 1,
		"no such file or directory")
}

func TestRetries(t *testing.T) {
	t.Parallel()
	stepback(t, "retries", "show").ends(t, 0, "aggressive", "conservative", "minimal", "database_optimized",
		"ProcessSingleUserRecord  (timeout 30s, heartbeat 10s)",
		"DatabaseConnectionError, AuroraTemporaryError, DeadlockException")
	s := stepback(t, "retries", "show", "--json")
	s.ends(t, 0)
	var states map[string][]struct {
		ErrorEquals []string
		MaxAttempts int
	}
	if err := json.Unmarshal([]byte(s.out), &states); err != nil || len(states["ProcessSingleUserRecord"]) != 12 {
		t.Errorf("%v: %+v", err, states)
	}
	s = stepback(t, "retries", "explain", "ProcessSingleUserRecord")
	s.ends(t, 0, "ProcessSingleUserRecord: each attempt may take 30s", "never retried",
		"waits of up to 23.744s in all; if every attempt reaches its timeout of 30s, the state takes",
		"waits of up to 1m16.125s in all;", "restarts with each attempt and does not include waits",
		"if the errors alternate: 55 retries, up to 1h25m31.807s of waiting")
	if !slices.ContainsFunc(strings.Split(s.out, "\n"), func(l string) bool {
		return strings.Join(strings.Fields(l),
			" ") == "4 0s 5.832s 11.664s"
	}) {
		t.Errorf("no line for the fourth retry of a database connection:\n%s", s.out)
	}
	s = stepback(t, "retries", "explain", "AggregateResults", "--json")
	s.ends(t, 0, `"state": "AggregateResults"`, `"timeoutSeconds": `, `"longestSeconds": `)
	if !json.Valid([]byte(s.out)) {
		t.Errorf("not JSON: %s", s.out)
	}
}

// full is an output to which every write fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAReportThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	data := aRun(t)
	for _, args := range [][]string{
		{"data", "check"}, {"data", "export"}, {"export", "users"},
		{"run", "--csv", write(t, "user_id,login_count,post_count\nanna,1,2\n")}, {"run", "--json", "--csv",
			write(t, "user_id,login_count,post_count\nanna,1,3\n")},
	} {
		var complaints bytes.Buffer
		code := execute(t.Context(), append(args, "--data", data), terminal.Streams{Out: full{}, Err: &complaints})
		if code != exit.Failure || strings.Count(complaints.String(), syscall.ENOSPC.Error()) != 1 {
			t.Errorf("%v: exit code %d, %s", args, code, complaints.String())
		}
	}
}
