package stepfunctions_test

import (
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions"
	"stepback/local/services/stepfunctions/wiretest"
)

// keepingServer serves the API over documents.
func keepingServer(t *testing.T, kept documents) wiretest.Wire {
	t.Helper()
	store, err := stepfunctions.Keep(t.Context(), kept)
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Real()
	e, err := engine.New(engine.Config{Clock: c, Journal: journal.NewMemory(), Account: wiretest.Scope.Account})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(stepfunctions.New(stepfunctions.Config{
		Open: func(aws.Scope) (*engine.Engine, error) { return e, nil }, Store: store, Now: time.Now,
		Default: wiretest.Scope,
	}).Handler())
	t.Cleanup(func() { server.Close(); e.Close(); c.Close() })
	return wiretest.Wire{URL: server.URL}
}

// revisions returns the keys of the stored revisions.
func revisions(kept documents) (keys []string) {
	for k := range kept {
		if strings.HasPrefix(k, "states/revision/") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// Updating, publishing and deleting remove the revisions that are no longer needed.
func TestRevisionsThatNobodyNeedsAreRemoved(t *testing.T) {
	t.Parallel()
	kept := documents{}
	w := keepingServer(t, kept)
	machine := w.Machine(t, "m", wiretest.Pass)
	updates := 0
	update := func() {
		t.Helper()
		updates++
		definition := strings.Replace(wiretest.Pass, "1", strconv.Itoa(100+updates), 1)
		if a := w.Call(t, "UpdateStateMachine", map[string]any{"stateMachineArn": machine,
			"definition": definition}); a["revisionId"] == nil {
			t.Fatal(a)
		}
	}
	want := func(when string, n int) {
		t.Helper()
		if got := revisions(kept); len(got) != n {
			t.Errorf("%s: %d revisions, want %d", when, len(got), n)
		}
	}
	for range 5 {
		update()
	}
	want("after updates", 1)
	version := w.Call(t, "PublishStateMachineVersion",
		map[string]any{"stateMachineArn": machine})["stateMachineVersionArn"]
	update()
	want("with a version", 2)
	if a := w.Call(t, "DeleteStateMachineVersion", map[string]any{"stateMachineVersionArn": machine + ":alias"}); a["__type"] !=
		"InvalidArn" {
		t.Errorf("a version with the ARN of an alias: %v", a)
	}
	w.Call(t, "DeleteStateMachineVersion", map[string]any{"stateMachineVersionArn": version})
	want("without it", 1)
	x := w.Run(t, machine, "{}")
	update()
	update()
	want("with an execution", 2)
	if d := w.Call(t, "DescribeStateMachineForExecution",
		map[string]any{"executionArn": x["executionArn"]}); d["definition"] == nil {
		t.Error(d)
	}
	w.Call(t, "DeleteStateMachine", map[string]any{"stateMachineArn": machine})
	w.Call(t, "DescribeStateMachine", map[string]any{"stateMachineArn": machine})
	want("of a deleted machine", 1)
}

// Revisions are kept while EXPRESS executions may still log according to them.
func TestRevisionsOfExpressExecutions(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]int{"OFF": 1, "ALL": 2} {
		kept := documents{}
		w := keepingServer(t, kept)
		m := w.Call(t, "CreateStateMachine", map[string]any{
			"name": "m", "definition": wiretest.Pass, "roleArn": wiretest.Role, "type": "EXPRESS", "loggingConfiguration": wiretest.Logging(level,
				true),
		})["stateMachineArn"]
		if a := w.Call(t, "StartExecution", map[string]any{"stateMachineArn": m}); a["executionArn"] == nil {
			t.Fatal(a)
		}
		w.Call(t, "UpdateStateMachine", map[string]any{"stateMachineArn": m, "definition": wiretest.Failing})
		if got := revisions(kept); len(got) != want {
			t.Errorf("%s: %d revisions, want %d", level, len(got), want)
		}
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	kept := documents{
		"states/machine/m":  []byte(`{"Revision":"current","Versions":[{"Revision":"published"}]}`),
		"states/revision/a": []byte(`{}`), "states/revision/current": []byte(`{}`),
		"states/revision/published": []byte(`{}`),
		"states/revision/executed":  []byte(`{}`), "states/activity/a": []byte(`{}`),
	}
	n, err := stepfunctions.Sweep(t.Context(), kept, map[string]bool{"executed": true})
	if err != nil || n != 1 || len(kept) != 5 || kept["states/revision/a"] != nil {
		t.Errorf("%d, %v, %v", n, err, kept)
	}
}

// Updating a state machine to the definition it already has, with another version description, publishes a version
// with that description.
func TestUpdatePublishesTheDescription(t *testing.T) {
	t.Parallel()
	w := keepingServer(t, documents{})
	machine := w.Call(t, "CreateStateMachine", map[string]any{
		"name": "m", "definition": wiretest.Pass, "roleArn": wiretest.Role, "publish": true, "versionDescription": "first",
	})["stateMachineArn"]
	update := func(description string) any {
		request := map[string]any{"stateMachineArn": machine, "definition": wiretest.Pass, "publish": true}
		if description != "" {
			request["versionDescription"] = description
		}
		return w.Call(t, "UpdateStateMachine", request)["stateMachineVersionArn"]
	}
	first, second := machine.(string)+":1", machine.(string)+":2"
	for _, c := range []struct{ description, want string }{
		{"first", first}, {"second", second}, {"second", second}, {"first", first}, {"", first},
	} {
		if got := update(c.description); got != c.want {
			t.Errorf("published %q: got %v, want %s", c.description, got, c.want)
		}
	}
	if d := w.Call(t, "DescribeStateMachine", map[string]any{"stateMachineArn": second}); d["description"] != "second" {
		t.Errorf("the second version: %v", d)
	}
}
