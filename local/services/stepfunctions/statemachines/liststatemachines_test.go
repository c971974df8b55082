package statemachines_test

import (
	"fmt"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions"
	"stepback/local/services/stepfunctions/wiretest"
)

// TestMachinesOfOneInstant pages through state machines and activities that were created while the clock stood still.
// They are listed in order of creation, even if some are deleted and created in the meantime.
func TestMachinesOfOneInstant(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(time.Unix(1_700_000_000, 999_999_999))
	e, err := engine.New(engine.Config{Clock: c, Journal: journal.NewMemory(), Account: wiretest.Scope.Account})
	if err != nil {
		t.Fatal(err)
	}
	service := stepfunctions.New(stepfunctions.Config{
		Open:  func(aws.Scope) (*engine.Engine, error) { return e, nil },
		Store: stepfunctions.NewMemory(), Now: c.Now, Default: wiretest.Scope,
	})
	server := httptest.NewServer(service.Handler())
	t.Cleanup(func() { server.Close(); e.Close(); c.Close() })
	w := wiretest.Wire{URL: server.URL}
	var want []string
	for i := range 13 {
		name := fmt.Sprint("machine_", 12-i)
		w.Machine(t, name, wiretest.Pass)
		w.Call(t, "CreateActivity", map[string]any{"name": name})
		want = append(want, name)
	}
	names := func(operation, member string, size int, after func()) (got []string) {
		request := map[string]any{"maxResults": size}
		for {
			a := w.Call(t, operation, request)
			for _, m := range a[member].([]any) {
				got = append(got, m.(map[string]any)["name"].(string))
			}
			if a["nextToken"] == nil {
				return got
			}
			request["nextToken"] = a["nextToken"]
			after()
		}
	}
	for _, size := range []int{1, 5, 12, 13, 1000} {
		if got := names("ListStateMachines", "stateMachines", size, func() {}); !reflect.DeepEqual(got, want) {
			t.Errorf("pages of %d: %v, want %v", size, got, want)
		}
	}
	if got := names("ListActivities", "activities", 5, func() {}); !reflect.DeepEqual(got, want) {
		t.Errorf("activities: %v, want %v", got, want)
	}
	prefix := "arn:aws:states:" + wiretest.Scope.Region + ":" + wiretest.Scope.Account + ":stateMachine:"
	deleted := false
	got := names("ListStateMachines", "stateMachines", 5, func() {
		if !deleted { // the last of the first page, and one of the next
			w.Call(t, "DeleteStateMachine", map[string]any{"stateMachineArn": prefix + want[4]})
			w.Call(t, "DeleteStateMachine", map[string]any{"stateMachineArn": prefix + want[6]})
			w.Machine(t, "late", wiretest.Pass)
			deleted = true
		}
	})
	if want := append(append(append([]string{}, want[:6]...), want[7:]...), "late"); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
