package functiontest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stepback/local/functiontest"
	"stepback/stepbacktest/machinetest"
)

// code copies the code of functions in a language, with a stand-in for AWS's SDK. It skips the test if the interpreter
// is missing.
func code(t *testing.T, interpreter, language, sdk string) string {
	t.Helper()
	if _, err := exec.LookPath(interpreter); err != nil {
		t.Skip(interpreter + " is not installed")
	}
	dir := t.TempDir()
	for from, to := range map[string]string{language: dir, filepath.Join("sdk", language): filepath.Join(dir, sdk)} {
		if err := os.CopyFS(to, os.DirFS(filepath.Join("testdata", from))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func javaScript(t *testing.T) string {
	t.Helper()
	return code(t, "node", "javascript", "node_modules/@aws/durable-execution-sdk-js")
}

func python(t *testing.T) string {
	t.Helper()
	return code(t, "python3", "python", ".")
}

// parse parses a test file in a directory.
func parse(t *testing.T, dir, text string) *functiontest.File {
	t.Helper()
	f, err := parsed(dir, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func parsed(dir, text string) (*functiontest.File, error) {
	return functiontest.Parse("orders.test.yaml", []byte(text), dir, func(path string) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, path))
	})
}

// results runs all tests of a file.
func results(t *testing.T, f *functiontest.File) []*functiontest.Result {
	t.Helper()
	all := make([]*functiontest.Result, 0, len(f.Tests))
	for i := range f.Tests {
		r, err := f.Run(t.Context(), &f.Tests[i])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// passes fails the test if a result has a failure.
func passes(t *testing.T, all []*functiontest.Result) {
	t.Helper()
	for _, r := range all {
		if !r.Passed() {
			var trace strings.Builder
			r.Trace(&trace)
			t.Errorf("%s: %s\n%s", r.Test.Name, strings.Join(r.Failures, "\n"), trace.String())
		}
	}
}

const orders = `function: orders.handler
tests:
  - name: the card service is busy twice
    input: {id: "17"}
    mocks:
      price: {return: 42, after: 1h}
      charge:
        - {error: CardServiceBusy, cause: try again, times: 2}
        - return: {payment: p-17}
    expect:
      status: SUCCEEDED
      output: {stock: r-17-1, price: 42, payment: {payment: p-17}}
      path: [reserve, price, charge, cool down]
      attempts: {reserve: 1, charge: 3}
      waits: {price: [1h], charge: [2s, 4s], cool down: [24h]}
      took: 25h6s
  - name: it stays busy
    input: {id: "17"}
    mocks:
      reserve: {return: r-0}
      prices: {return: 1}
      charge: {error: CardServiceBusy, times: always}
    expect: {status: FAILED, error: CardServiceBusy, attempts: {charge: 4}, waits: {charge: [2s, 4s, 8s]}, never: [cool down]}
  - name: an error that is not retried
    input: {id: "17"}
    mocks:
      price: {return: 1}
      charge: {error: Declined, cause: no money}
    expect: {status: FAILED, error: Declined, cause: money, attempts: {charge: 1}}
  - name: approved
    input: {id: "1", review: true}
    mocks:
      price: {return: 1}
      charge: {return: 2}
      approval: {return: {approved: true}, after: 90m}
    expect: {status: SUCCEEDED, contains: {payment: 2}, ran: [approval], waits: {approval: [90m]}}
  - name: rejected
    input: {id: "1", review: true}
    mocks:
      price: {return: 1}
      charge: {return: 2}
      approval: {text: '{"why": "too dear"}'}
    expect: {status: FAILED, error: Rejected, cause: too dear}
  - name: nobody answers
    input: {id: "1", review: true}
    mocks:
      price: {return: 1}
      charge: {return: 2}
      approval: {hang: true}
    expect: {status: FAILED, error: CallbackError, waits: {approval: [2h]}}
  - name: the price service is down
    input: {id: "1"}
    mocks:
      price: {error: Down, cause: for good}
    expect: {status: FAILED, error: Down, never: [charge]}
`

// TestJavaScript runs a function in JavaScript: its errors have the classes of its module, and its waits take no time.
func TestJavaScript(t *testing.T) {
	t.Parallel()
	f := parse(t, javaScript(t), orders)
	all := results(t, f)
	passes(t, all)
	for _, r := range all {
		if len(r.Notes) > 0 {
			t.Errorf("%s: %v", r.Test.Name, r.Notes)
		}
	}
	if r := all[0].Report(); r.File != "orders.test.yaml" || r.Line != 3 || r.Subject != "orders.handler" || !r.Passed() {
		t.Errorf("%+v", r)
	}
	c := f.Coverage(t.Context())
	if got := share(c.Steps) + "; " + share(c.Retries) + "; " + share(c.Errors); got != "4/8 save ready lucky read; "+
		"1/5 reserve retry save retry lucky retry read retry; 3/8 reserve error save error ready error lucky error read error" {
		t.Errorf("coverage: %s", got)
	}
	if !strings.HasSuffix(c.Function, "orders.mjs") {
		t.Error(c.Function)
	}
	other := parse(t, f.Function.Folder, "function: orders.environment\ntests: [{name: one, expect: {output: null}}]\n")
	results(t, other)
	if !f.Merge(other) {
		t.Error("files that test the same module have separate coverages")
	}
	if got := share(f.Coverage(t.Context()).Steps); got != "5/8 save ready lucky" {
		t.Errorf("merged: %s", got)
	}
}

func share(s machinetest.Share) string {
	return fmt.Sprintf("%d/%d %s", s.Covered, s.All, strings.Join(s.Missed, " "))
}

// TestOperationsOfJavaScript: responses for iterations, conditions and crashes.
func TestOperationsOfJavaScript(t *testing.T) {
	t.Parallel()
	dir := javaScript(t)
	passes(t, results(t, parse(t, dir, `function: {handler: orders.rows}
tests:
  - name: the second row fails once
    input: {rows: [a, b, c]}
    mocks:
      save:
        - {in: map-item-1, error: CardServiceBusy}
        - {in: rows, return: saved, times: always}
    expect: {output: [saved, saved, saved], attempts: {save: 4}, waits: {save: [2s]}}
  - name: the process ends during the first row
    input: {rows: [a, b]}
    mocks:
      save:
        - {crash: true}
        - {return: saved, times: 2}
    expect: {output: [saved, saved], attempts: {save: 2}}
  - name: no mocks
    input: {rows: [a, b]}
    expect: {output: [a, b], took: 0s}
`)))
	passes(t, results(t, parse(t, dir, `function: {handler: orders.polls}
tests:
  - name: ready at the third time
    mocks: {ready: [{return: 1, times: 2}, {return: 3}]}
    expect: {output: 3, attempts: {ready: 3}, waits: {ready: [1m, 1m]}}
`)))
	passes(t, results(t, parse(t, dir, `function: {handler: orders.environment, environment: {TABLE: orders}, runtime: nodejs22.x}
tests:
  - name: the environment
    expect: {output: orders}
`)))
}

// TestJitterHasASeed: the same seed gives the same delays.
func TestJitterHasASeed(t *testing.T) {
	t.Parallel()
	f := parse(t, javaScript(t), `function: orders.jitter
tests:
  - {name: one, seed: 7, mocks: {lucky: {error: Unlucky, times: always}}, expect: {status: FAILED, attempts: {lucky: 3}}}
  - {name: again, seed: 7, mocks: {lucky: {error: Unlucky, times: always}}, expect: {status: FAILED}}
  - {name: another, seed: 8, mocks: {lucky: {error: Unlucky, times: always}}, expect: {status: FAILED}}
`)
	all := results(t, f)
	passes(t, all)
	took := make([]string, len(all))
	for i, r := range all {
		took[i] = r.Execution.Stop.Sub(r.Execution.Start).String()
	}
	if took[0] != took[1] || took[0] == took[2] {
		t.Errorf("the executions took %v", took)
	}
}

// TestPython runs a function in Python.
func TestPython(t *testing.T) {
	t.Parallel()
	f := parse(t, python(t), `function: pay.handler
tests:
  - name: declined twice
    input: {id: "7"}
    mocks:
      charge: [{error: Declined, cause: no money, times: 2}, {return: {paid: 5}}]
      approval: {text: "yes", after: 30m}
    expect:
      status: SUCCEEDED
      output: {paid: {paid: 5}, approved: "yes", sent: sent 7}
      path: [charge, approval, send]
      attempts: {charge: 3}
      waits: {charge: [1s, 1h], approval: [30m]}
      took: 1h30m1s
  - name: an unknown error
    input: {id: "7"}
    mocks: {charge: [{error: Odd, times: always}]}
    expect: {status: FAILED, error: Odd, attempts: {charge: 3}}
  - name: the submitter fails
    input: {id: "7"}
    mocks: {charge: {return: 1}, approval-submitter: {error: ConnectionError, cause: refused}, approval: {hang: true}}
    expect: {status: FAILED}
`)
	all := results(t, f)
	passes(t, all[:2])
	if got := strings.Join(all[2].Failures, "\n"); !strings.Contains(got, "orders.test.yaml:21: mocks: the callback approval has no timeout") {
		t.Errorf("%s", got)
	}
	c := f.Coverage(t.Context())
	if got := share(c.Steps) + "; " + share(c.Retries) + "; " + share(c.Errors); got != "3/3 ; 1/2 send retry; 1/3 approval error send error" {
		t.Errorf("coverage: %s", got)
	}
}

// TestFailures: what is wrong is named with its line, what was meant, and what happened instead.
func TestFailures(t *testing.T) {
	t.Parallel()
	dir := javaScript(t)
	for want, text := range map[string]string{
		`orders.test.yaml:7: mocks: no operation chrage ran; did you mean charge?`: `
  - name: a misspelled mock
    mocks:
      price: {return: 1}
      chrage: {return: 1}
    expect: {}`,
		`orders.test.yaml:5: the invoke price of the function prices has no response: add one under mocks`: `
    
  - name: no response for an invoke
    expect: {status: SUCCEEDED}`,
		`orders.test.yaml:4: the callback approval has no response: add one under mocks (return, error, or hang: true for its timeout)`: `
  - name: no response for a callback
    input: {review: true}
    mocks: {price: {return: 1}, charge: {return: 1}}
    expect: {status: SUCCEEDED}`,
		`orders.test.yaml:5: mocks: call 2 of the step charge has no response: its responses are used up, or their in is another one; add one, or times: always`: `
  - name: used up
    mocks: {price: {return: 1}, charge: {error: CardServiceBusy}}
    expect: {status: SUCCEEDED}`,
		`orders.test.yaml:5: mocks: charge is a step: only callbacks can hang; respond with return or error`: `
  - name: a step that hangs
    mocks: {price: {return: 1}, charge: {hang: true}}
    expect: {status: SUCCEEDED}`,
		`orders.test.yaml:5: mocks: cool down is a wait, which takes no response; remove it`: `
  - name: a wait with a response
    mocks: {price: {return: 1}, charge: {return: 1}, cool down: {return: 1}}
    expect: {status: SUCCEEDED}`,
		`orders.test.yaml:7: attempts: charge ran 1 time, expected 2
orders.test.yaml:7: attempts: shipp ran 0 times, expected 1; those that ran are reserve, price, charge, cool down
orders.test.yaml:6: waits: charge waited never, expected 1s
orders.test.yaml:8: took: 24h0m0s, expected 1h0m0s`: `
  - name: other expectations
    mocks: {price: {return: 1}, charge: {return: 1}}
    expect: {waits: {charge: [1s]},
      attempts: {charge: 2, shipp: 1},
      took: 1h}`,
	} {
		f := parse(t, dir, "function: {handler: orders.handler}\ntests:\n"+text+"\n")
		r, err := f.Run(t.Context(), &f.Tests[0])
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if got := strings.Join(r.Failures, "\n"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", r.Test.Name, got, want)
		}
	}
}

// TestRefusedFiles: a test file that cannot be run says where and what to do.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.js": "", "b.py": "", "c.ts": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const tests = "\ntests: [{name: one, expect: {}}]\n"
	for text, want := range map[string]string{
		"function: d.handler" + tests: "orders.test.yaml:1:11: function: the handler d.handler is missing: " + dir +
			" has no d.js, .mjs, .cjs or .py; name the directory with the code as code",
		"function: {handler: c.handler}" + tests: "orders.test.yaml:1:21: function.handler: " + filepath.Join(dir, "c.ts") +
			" is TypeScript: build it, and name the directory with the JavaScript as code",
		"function: {handler: a.handler, code: dist}" + tests: "orders.test.yaml:1:38: function.code: there is no directory " +
			filepath.Join(dir, "dist") + "; name the directory with the function's code, built if it is TypeScript",
		"function: {handler: a.handler, runtime: provided.al2023}" + tests: "orders.test.yaml:1:41: function.runtime: functions of the runtime provided.al2023 " +
			"cannot be tested: steps can be replaced in JavaScript (such as nodejs22.x) and Python (such as python3.13)",
		"function: {handler: a}" + tests: `orders.test.yaml:1:21: function.handler: "a" is no handler; write FILE.FUNCTION, ` +
			"such as orders.handler for the function handler of orders.js or orders.py",
		"function: a.handler\ntests: [{name: one, mocks: {charge: {return: 1}, charge: {return: 2}}, expect: {}}]\n": `orders.test.yaml:2:50: tests[0].mocks: the member "charge" occurs twice`,
		"function: a.handler\ntests: [{name: one, mocks: {charge: {return: 1, error: E}}, expect: {}}]\n": "orders.test.yaml:2:37: tests[0].mocks.charge: " +
			"a response needs exactly one of return, text, error, hang and crash",
		"function: a.handler\ntests: [{name: one, mock: {}, expect: {}}]\n": `orders.test.yaml:2:21: tests[0]: there is no member "mock" here (did you mean mocks?); ` +
			"known are name, input, inputFile, mocks, seed and expect",
	} {
		if _, err := parsed(dir, text); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// TestFunctionsThatCannotBeTested: the SDK or the handler is missing, or the function is not durable.
func TestFunctionsThatCannotBeTested(t *testing.T) {
	t.Parallel()
	dir := javaScript(t)
	bare := t.TempDir()
	if err := os.CopyFS(bare, os.DirFS("testdata/javascript")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, handler, want string }{
		{dir, "orders.nothing", "orders.test.yaml:1: function: the handler orders.nothing cannot be loaded: Runtime.HandlerNotFound: orders.nothing is undefined or not exported"},
		{bare, "orders.handler", "install AWS's SDK for durable functions: npm install --prefix " + bare + " @aws/durable-execution-sdk-js@2"},
		{dir, "orders.plain", "the handler orders.plain did not use AWS's SDK for durable functions"},
	} {
		f := parse(t, c.dir, "function: "+c.handler+"\ntests: [{name: one, expect: {}}]\n")
		_, err := f.Run(t.Context(), &f.Tests[0])
		var refused *functiontest.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.handler, err, c.want)
		}
	}
	old := filepath.Join(dir, "node_modules/@aws/durable-execution-sdk-js/package.json")
	if err := os.WriteFile(old, []byte(`{"version": "2.2.0", "exports": "./index.mjs"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := parse(t, dir, "function: orders.handler\ntests: [{name: one, expect: {}}]\n")
	if _, err := f.Run(t.Context(), &f.Tests[0]); err == nil || !strings.Contains(err.Error(),
		"orders.test.yaml:1: function: version 2.2.0 of @aws/durable-execution-sdk-js in "+dir+" does not let tests replace steps; install 2.3 or later") {
		t.Error(err)
	}
	if err := os.WriteFile(old, []byte(`{"version": "2.3.0", "exports": "./index.mjs"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Run(ctx, &f.Tests[0]); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
