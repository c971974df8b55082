package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// theExamples is the directory of the examples.
const theExamples = "../../docs/examples"

// The examples' tests pass, and the examples are valid and reviewed without a finding.
func TestTheExamples(t *testing.T) {
	t.Parallel()
	s := stepback(t, "test", theExamples, "--coverage", "--junit", filepath.Join(t.TempDir(), "results.xml"))
	s.ends(t, 0, "PASS", "12 tests, 0 failed", "order-saga.asl.json 7/7 5/5 3/3")
	stepback(t, "validate", theExamples).ends(t, 0)
	stepback(t, "retries", "review", theExamples, "--strict").ends(t, 0)
}

// TestInitWritesAnExample writes an example and tests it; after a change the test fails.
func TestInitWritesAnExample(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"order-saga", "approval", "invoices", "csv-rows"} {
		dir := filepath.Join(t.TempDir(), "new")
		stepback(t, "init", dir, "--example", name).ends(t, 0, filepath.Join(dir, name+".test.yaml"))
		stepback(t, "test", dir).ends(t, 0, "0 failed")
		stepback(t, "init", dir, "--example", name).complains(t, 1, "already exists")
	}
	stepback(t, "init", t.TempDir(), "--example", "odd").complains(t, 2,
		"there is no example odd; there are approval, csv-rows, invoices, order-saga")
}

// Failing tests end with exit code 1, and a refused test file with 3.
func TestTestsThatFail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"m.asl.json":          `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": 1, "End": true}}}`,
		"m.test.yaml":         "tests:\n  - {name: one, expect: {output: 1}}\n  - {name: two, expect: {output: 2, path: [A]}}\n",
		"bad/m.test.yaml":     "tests:\n  - {name: one, expct: {}}\n",
		"bad/m.asl.yaml":      "StartAt: A\nStates: {A: {Type: Pass, End: true}}\n",
		"refused/r.asl.json":  `{"StartAt": "B", "States": {"A": {"Type": "Pass", "End": true}}}`,
		"refused/r.test.yaml": "tests: [{name: one, expect: {}}]\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "m.test.yaml")
	stepback(t, "test", file).ends(t, 1, "PASS "+file+": one", "FAIL "+file+": two",
		file+":3: output: $ is 1, expected 2", "2 tests, 1 failed")
	stepback(t, "test", file, "--run", "one").ends(t, 0, "1 test, 0 failed")
	stepback(t, "test", file, "--json").ends(t, 1, `"passed": false`, `"definition": "`+filepath.Join(dir, "m.asl.json")+`"`)
	stepback(t, "test", file, "--run", "oen").complains6(t, `no test matches --run "oen"; did you mean "one"?`)
	stepback(t, "test", dir, "--run", "thrree").ends(t, 3, "0 tests, 0 failed, 2 files not run")
	stepback(t, "test", dir).ends(t, 3, "PASS "+file+": one", "2 tests, 1 failed, 2 files not run")
	stepback(t, "test", filepath.Join(dir, "none.test.yaml"), file).ends(t, 2, "2 tests, 1 failed")
	s := stepback(t, "test", filepath.Join(dir, "bad"))
	s.ends(t, 3, "0 tests, 0 failed, 1 file not run")
	if !strings.Contains(s.err, `m.test.yaml:2:17: tests[0]: there is no member "expct" here (did you mean expect?)`) {
		t.Errorf("%s", s.err)
	}
	s = stepback(t, "test", filepath.Join(dir, "refused"))
	if s.ends(t, 3); !strings.Contains(s.err, "MISSING_TRANSITION_TARGET") {
		t.Errorf("%s", s.err)
	}
	stepback(t, "test", t.TempDir()).complains(t, 2, "has no *.test.yaml; stepback init writes an example")
	stepback(t, "test", file, "--run", "(").complains(t, 2, "--run: ")
}

// complains6 checks that a command failed because no test matches, with a message on standard error.
func (s said) complains6(t *testing.T, text string) {
	t.Helper()
	if s.code != exit.NoTest || !strings.Contains(s.err, text) {
		t.Errorf("exit code %d, %s", s.code, s.err)
	}
}

// TestWatchingTests runs the tests again when a test file changes, when another one is added, and when a definition
// changes.
func TestWatchingTests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("m.asl.json", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": 1, "End": true}}}`)
	write("m.test.yaml", "tests:\n  - {name: one, expect: {output: 1}}\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, to := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- execute(ctx, []string{"test", dir, "--watch"}, terminal.Streams{Out: to, Err: to, Width: 80})
		to.Close()
	}()
	lines := bufio.NewScanner(out)
	until := func(wanted string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), wanted) {
				return
			}
		}
		t.Fatalf("no line with %q", wanted)
	}
	until("1 test, 0 failed")
	until("-- waiting for a change of ")
	write("m.test.yaml", "tests:\n  - {name: one, expect: {output: 1}}\n  - {name: two, expect: {output: 2}}\n")
	until("2 tests, 1 failed")
	until("-- waiting for a change of ")
	write("m.asl.json", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": 2, "End": true, "Comment": "now 2"}}}`)
	until("2 tests, 1 failed")
	until("-- waiting for a change of ")
	write("n.asl.json", `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`)
	write("n.test.yaml", "tests:\n  - {name: three, expect: {output: {}}}\n")
	until("3 tests, 1 failed")
	cancel()
	for lines.Scan() {
		if strings.Contains(lines.Text(), "canceled") {
			t.Error(lines.Text())
		}
	}
	if got := <-code; got != exit.Stopped {
		t.Errorf("exit code %d", got)
	}
}

// TestRecordAndReplay records an execution of a data directory and replays it.
func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	saga := filepath.Join(theExamples, "order-saga")
	stepback(t, "exec", filepath.Join(saga, "order-saga.asl.json"), "--data", data, "--name", "real", "--virtual-time",
		"--mock", filepath.Join(saga, "mocks.json"), "--test-case", "ShippingFails", "--input",
		"@"+filepath.Join(saga, "order.json")).ends(t, 1)
	file := filepath.Join(dir, "order-saga.test.yaml")
	stepback(t, "record", "real", "--data", data, "-o", file).ends(t, 0, filepath.Join(dir, "order-saga.asl.json"), file)
	stepback(t, "test", dir).ends(t, 0, "PASS "+file+": real", "1 test, 0 failed")

	history := filepath.Join(dir, "history.json")
	if err := os.WriteFile(history, []byte(stepback(t, "history", "real", "--data", data, "--json").out), 0o600); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "again.test.yaml")
	stepback(t, "record", "--history", history, "--definition", "order-saga.asl.json", "-o", again).ends(t, 0, again)
	stepback(t, "test", again).ends(t, 0, "1 test, 0 failed")
	marked := filepath.Join(dir, "marked.json")
	text, err := os.ReadFile(history)
	if err == nil {
		err = os.WriteFile(marked, append([]byte("\ufeff"), text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	stepback(t, "record", "--history", marked, "--definition", "order-saga.asl.json", "-o",
		filepath.Join(dir, "marked.test.yaml")).ends(t, 0, "marked.test.yaml")
	stepback(t, "record", "--history", history).complains(t, 2, "--history needs --definition")
	stepback(t, "record").complains(t, 2, "name an execution")
}

// TestFunctionTests runs tests of a durable function beside tests of a state machine.
func TestFunctionTests(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	const from = "../../local/functiontest/testdata"
	dir := t.TempDir()
	for source, to := range map[string]string{"javascript": "", "sdk/javascript": "node_modules/@aws/durable-execution-sdk-js"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(from, source))); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"m.asl.json":       `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": 1, "End": true}}}`,
		"m.test.yaml":      "tests:\n  - {name: machine, expect: {output: 1}}\n",
		"rows.test.yaml":   "function: orders.rows\ntests:\n  - {name: rows, input: {rows: [1, 2]}, mocks: {save: {return: 5, times: 2}}, expect: {output: [5, 5]}}\n",
		"polls.test.yaml":  "function: orders.polls\ntests:\n  - {name: polls, expect: {output: 4}}\n",
		"none.test.yaml":   "function: orders.none\ntests:\n  - {name: none, expect: {}}\n",
		"absent.test.yaml": "function: absent.none\ntests:\n  - {name: absent, expect: {}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	junit := filepath.Join(t.TempDir(), "results.xml")
	rows, polls := filepath.Join(dir, "rows.test.yaml"), filepath.Join(dir, "polls.test.yaml")
	stepback(t, "test", filepath.Join(dir, "m.test.yaml"), rows, polls, "--coverage", "--junit", junit, "-v").ends(t, 1,
		"PASS "+rows+": rows", "FAIL "+polls+": polls\n "+polls+":3: output: $ is 3, expected 4\n", "0s ExecutionStarted",
		"1m0s StepSucceeded ready; next attempt in 1m0s", "orders.mjs 2/7 0/5 0/7 reserve", "3 tests, 1 failed")
	xml, err := os.ReadFile(junit)
	for _, want := range []string{`<testcase name="rows" classname="orders.rows" file="` + rows + `" line="3"`,
		`<testsuite name="` + polls + `" tests="1" failures="1">`} {
		if err != nil || !strings.Contains(string(xml), want) {
			t.Errorf("%v: lacks %s\n%s", err, want, xml)
		}
	}
	stepback(t, "test", rows, "--json").ends(t, 0, `"passed": true`, `"functions": [`, `"function": "`+filepath.Join(dir, "orders.mjs")+`"`)
	stepback(t, "test", rows, "--run", "rwos").complains6(t, `no test matches --run "rwos"; did you mean "rows"?`)
	s := stepback(t, "test", dir)
	s.ends(t, 3, "PASS "+rows, "3 tests, 1 failed, 2 files not run")
	for _, want := range []string{"none.test.yaml:1: function: the handler orders.none cannot be loaded: Runtime.HandlerNotFound",
		"absent.test.yaml:1:11: function: the handler absent.none is missing"} {
		if !strings.Contains(s.err, want) {
			t.Errorf("lacks %s: %s", want, s.err)
		}
	}
}
