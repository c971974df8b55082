package conformance_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine/conformance"
)

// fewest is how many of the recorded cases the engine must be able to serve.
const fewest = 298

// TestRecordings replays every recorded case that the embedded engine can serve, in virtual time, and compares its answers
// with those of the real service. A case that differs must be listed in known; one that is listed must still differ.
func TestRecordings(t *testing.T) {
	t.Parallel()
	cases := load(t)
	verdicts := make([]*conformance.Verdict, len(cases))
	t.Run("cases", func(t *testing.T) {
		for i, c := range cases {
			if replayable(c) {
				t.Run(c.ID, func(t *testing.T) {
					t.Parallel()
					verdicts[i] = replay(t, c)
					compare(t, c, verdicts[i])
				})
			}
		}
	})
	table, total := conformance.Tabulate(cases, verdicts)
	t.Log("\n" + table)
	if total.Replayed < fewest {
		t.Errorf("only %d cases were replayed, fewer than %d", total.Replayed, fewest)
	}
}

// load reads the recordings, or skips the test when there are none.
func load(t *testing.T) []*conformance.Case {
	t.Helper()
	root := os.Getenv("STEPBACK_CONFORMANCE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	cases, err := conformance.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Skipf("no recordings under %s; set STEPBACK_CONFORMANCE to the folder that holds cases/", root)
	}
	return cases
}

// unserved are the features that the embedded engine does not have, or that only its HTTP API will have. Definitions that must
// be refused may use them.
var unserved = []string{
	"express", "sync-express", "test-state", "activity", "callback", "nested-execution", "alias", "aws-sdk",
}

// replayable reports whether the engine can serve every call of a case. Cases about the API alone are left out.
func replayable(c *conformance.Case) bool {
	for _, need := range c.Needs {
		if need != "lambda" && need != "s3" {
			return false
		}
	}
	judged, created, started := false, false, false
	for i := range c.Steps {
		s := &c.Steps[i]
		judged = judged || len(s.Check) > 0 && (s.Op != "CreateStateMachine" || s.Error)
		created = created || s.Op == "CreateStateMachine"
		started = started || s.Op != "CreateStateMachine" || !s.Error
		if s.Op != "" && !understood(c, s) {
			return false
		}
	}
	return judged && created && (!started || !slices.ContainsFunc(unserved, c.Has))
}

// understood reports whether the engine knows an operation and all parameters of the call. Logging is set up by cases that
// judge nothing but the histories.
func understood(c *conformance.Case, s *conformance.Step) bool {
	op, ok := operations[s.Op]
	if !ok || s.Thread != nil {
		return false
	}
	for name := range s.Params {
		if !slices.Contains(op.params, name) && (name != "loggingConfiguration" || c.Group != "logs") {
			return false
		}
	}
	return true
}

// replay runs the program of a case.
func replay(t *testing.T, c *conformance.Case) *conformance.Verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	names := &conformance.Names{Account: account, Region: region, Now: time.Now()}
	stubs := &conformance.Functions{Region: region, Account: account, Rules: map[string]conformance.Rule{}}
	for name, rule := range c.Lambdas {
		stubs.Rules[names.Text(name)] = rule
	}
	service := newCloud(t, stubs)
	judge := conformance.NewJudge(c, names)
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Wait != "" {
			if err := service.wait(ctx, s, names.Text(s.ExecutionARN)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		filled, err := names.Params(s.Params)
		if err != nil {
			t.Fatal(err)
		}
		params, _ := filled.(map[string]any)
		a := service.call(ctx, t, s.Op, params)
		names.Answered(s.N, clone(a.Result))
		conformance.Normalise(a.Result)
		if !judge.Judge(s, a) {
			break
		}
	}
	return &judge.Verdict
}

// clone keeps the members of an answer that placeholders may name from being normalised.
func clone(result map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range result {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// compare holds a verdict against the list of known differences.
func compare(t *testing.T, c *conformance.Case, v *conformance.Verdict) {
	t.Helper()
	if reason, listed := known[c.ID]; listed {
		if len(v.History) == 0 {
			t.Errorf("agrees with the recording now; remove it from the known differences (%s)", reason)
			return
		}
		t.Logf("known difference: %s\n%s", reason, strings.Join(v.History, "\n"))
		return
	}
	for _, d := range v.Outcome {
		t.Errorf("outcome: %s", d)
	}
	for _, d := range v.History {
		t.Errorf("history: %s", d)
	}
}
