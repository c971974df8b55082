package awssdk

import (
	"context"
	"strings"

	"stepback/aws"
	"stepback/engine"
	"stepback/jsonvalue"
)

// eventsOf prepares the entries of putEvents: a Detail that is an object becomes text, and the ARNs of the execution
// and of its state machine are added to the Resources.
func eventsOf(_ context.Context, _ *Optimized, t *engine.Task, params jsonvalue.Value) (jsonvalue.Value, error) {
	entries, ok := params.Get("Entries")
	if !ok || entries.Kind() != jsonvalue.Array {
		return params, nil
	}
	origin := []jsonvalue.Value{jsonvalue.OfString(t.Execution), jsonvalue.OfString(machineOf(t.Execution))}
	changed := make([]jsonvalue.Value, entries.Len())
	for i, e := range entries.Elements() {
		changed[i] = e
		if e.Kind() != jsonvalue.Object {
			continue
		}
		if d, ok := e.Get("Detail"); ok && !d.IsNull() && d.Kind() != jsonvalue.String {
			e = e.With("Detail", jsonvalue.OfString(d.JSON()))
		}
		var resources []jsonvalue.Value
		if r, ok := e.Get("Resources"); ok && r.Kind() == jsonvalue.Array {
			resources = append(resources, r.Elements()...)
		}
		changed[i] = e.With("Resources", jsonvalue.OfArray(append(resources, origin...)))
	}
	return params.With("Entries", jsonvalue.OfArray(changed)), nil
}

// machineOf returns the ARN of an execution's state machine.
func machineOf(execution string) string {
	a, _ := aws.ParseARN(execution)
	_, rest, ok := strings.Cut(a.Resource, ":") // execution:MACHINE:NAME
	if !ok {
		return execution
	}
	machine, _, _ := strings.Cut(rest, ":")
	a.Resource = "stateMachine:" + machine
	return a.String()
}

// failRejectedEntries fails the task if any entry was rejected. Accepted entries are not undone: a retry sends
// all of them again.
func failRejectedEntries(result jsonvalue.Value) error {
	failed, _ := result.Get("FailedEntryCount")
	if n, _ := failed.Int(); n == 0 {
		return nil
	}
	return engine.NewFailure("EventBridge.FailedEntry", result.JSON())
}
