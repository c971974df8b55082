package statemachine_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"stepback/asl"
	"stepback/statemachine"
)

func filesDefinition(t *testing.T, o statemachine.FilesOptions) []byte {
	t.Helper()
	text, err := statemachine.FilesDefinition(statemachine.FilesTable(o.ImportTimeout), o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestGoldenFilesDefinition(t *testing.T) {
	t.Parallel()
	const file = "testdata/files.golden.json"
	got := filesDefinition(t, statemachine.FilesSubstitutions())
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the definition differs from %s; if that is meant, run go test ./statemachine -update", file)
	}
	if machine, diagnostics := asl.Parse(string(got)); machine == nil || len(diagnostics) > 0 {
		t.Errorf("diagnostics: %v", diagnostics)
	}
}

// TestFilesAreDescribedWithinTheHistory: a child that waits for a running import describes it at most 2,000 times
// within the import's timeout, with 11 of 25,000 events of its history each.
func TestFilesAreDescribedWithinTheHistory(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]float64{
		time.Hour: 30, 24 * time.Hour: 44, 8760 * time.Hour: 15768,
	} {
		o := statemachine.FilesSubstitutions()
		o.ImportTimeout = timeout
		found := states(t, filesDefinition(t, o))
		if got := found["AwaitImport"]["Seconds"]; got != want {
			t.Errorf("with a timeout of %v the import is described each %v s, want %v", timeout, got, want)
		}
		if got := found["ImportFile"]["TimeoutSeconds"]; got != (timeout + time.Hour).Seconds() {
			t.Errorf("with a timeout of %v ImportFile ends after %v s", timeout, got)
		}
	}
}

func TestFilesOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*statemachine.FilesOptions){
		"FilesFunction is empty":                  func(o *statemachine.FilesOptions) { o.FilesFunction = "" },
		"ImportExecutions is empty":               func(o *statemachine.FilesOptions) { o.ImportExecutions = "" },
		"the Concurrency is 0; want 1 to 1000":    func(o *statemachine.FilesOptions) { o.Concurrency = 0 },
		"the Concurrency is 1001; want 1 to 1000": func(o *statemachine.FilesOptions) { o.Concurrency = 1001 },
		"the ImportTimeout is 1.5s; want whole":   func(o *statemachine.FilesOptions) { o.ImportTimeout = 1500 * time.Millisecond },
	} {
		o := statemachine.FilesSubstitutions()
		change(&o)
		_, err := statemachine.FilesDefinition(statemachine.FilesTable(o.ImportTimeout), o)
		if err == nil || !strings.HasPrefix(err.Error(), "options of the state machine of many files: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	table := statemachine.FilesTable(time.Hour)
	table.States = table.States[1:]
	if _, err := statemachine.FilesDefinition(table, statemachine.FilesSubstitutions()); err == nil ||
		err.Error() != `state "ListFiles" is not in the retry table` {
		t.Errorf("an incomplete table: %v", err)
	}
}

// TestAPartOfManyFilesIsSilent: an import that is started for an import of many files publishes nothing itself, in
// whichever way it ends.
func TestAPartOfManyFilesIsSilent(t *testing.T) {
	t.Parallel()
	found := states(t, definition(t, local()))
	for state, want := range map[string]string{
		"CheckRejection": "map[Choices:[map[IsPresent:true Next:ImportRejected Variable:$$.Execution.Input.partOf]] Default:NotifyValidationFailure Type:Choice]",
		"CheckFailure":   "map[Choices:[map[IsPresent:true Next:ImportFailed Variable:$$.Execution.Input.partOf]] Default:NotifyFailure Type:Choice]",
	} {
		if got := sprint(found[state]); got != want {
			t.Errorf("%s is\n%s, want\n%s", state, got, want)
		}
	}
	const complete = "map[And:[map[BooleanEquals:true Variable:$.aggregation.summary.withinTolerance] " +
		"map[IsPresent:true Variable:$$.Execution.Input.partOf]] Next:ImportSucceeded]"
	if got := sprint(found["CheckTolerance"]); !strings.Contains(got, complete) {
		t.Errorf("CheckTolerance is %s", got)
	}
	for name, state := range found {
		next := []string{sprint(state["Next"]), sprint(state["Catch"])}
		for _, n := range next {
			if name != "CheckFailure" && (strings.Contains(n, "NotifyFailure") || strings.Contains(n, "NotifyValidationFailure")) {
				t.Errorf("%s goes to %s without a look at partOf", name, n)
			}
		}
	}
}

func sprint(v any) string { return fmt.Sprint(v) }
