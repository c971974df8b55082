package statemachine_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/asl"
	"stepback/statemachine"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// local returns options with the names used on a laptop.
func local() statemachine.Options {
	o := statemachine.DefaultOptions()
	o.ValidateFunction, o.ProcessFunction, o.AggregateFunction = "csv-validate", "csv-process", "csv-aggregate"
	o.ResultBucket = "csv-results"
	o.TopicARN = "arn:aws:sns:us-east-1:000000000000:csv-import"
	return o
}

func variants() map[string]statemachine.Options {
	single, batch := local(), local()
	single.Shape, single.BatchSize = statemachine.Single, 1
	batch.Shape, batch.BatchSize = statemachine.Batch, 100
	return map[string]statemachine.Options{"bulk": local(), "batch": batch, "single": single,
		"substitutions": statemachine.Substitutions()}
}

func definition(t *testing.T, o statemachine.Options) []byte {
	t.Helper()
	text, err := statemachine.Definition(statemachine.DefaultTable(), o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestGoldenDefinitions(t *testing.T) {
	t.Parallel()
	for name, options := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := "testdata/" + name + ".golden.json"
			got := definition(t, options)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the definition differs from %s; if that is meant, run go test ./statemachine -update", file)
			}
			if again := definition(t, options); !bytes.Equal(got, again) {
				t.Error("the same options gave another text")
			}
		})
	}
}

func TestDefinitionsAreValid(t *testing.T) {
	t.Parallel()
	for name, options := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := definition(t, options)
			if machine, diagnostics := asl.Parse(string(text)); machine == nil || len(diagnostics) > 0 {
				t.Errorf("diagnostics: %v", diagnostics)
			}
			if len(text) > 1<<20 {
				t.Errorf("%d bytes, above the limit of 1 MiB", len(text))
			}
		})
	}
}

// states collects the states of a definition by name, nested ones included.
func states(t *testing.T, text []byte) map[string]map[string]any {
	t.Helper()
	var machine any
	if err := json.Unmarshal(text, &machine); err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]any{}
	var walk func(any)
	walk = func(v any) {
		graph, _ := v.(map[string]any)
		in, _ := graph["States"].(map[string]any)
		for name, s := range in {
			state := s.(map[string]any)
			found[name] = state
			walk(state["ItemProcessor"])
		}
	}
	walk(machine)
	return found
}

func TestRetryArraysAreTheTablesCompilation(t *testing.T) {
	t.Parallel()
	table := statemachine.DefaultTable()
	for name, options := range variants() {
		found := states(t, definition(t, options))
		for _, entry := range table.States {
			compiled, err := table.Compile(entry.State)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(compiled.Retry)
			var want any
			_ = json.Unmarshal(text, &want)
			state, there := found[entry.State]
			if bulk := options.Shape == statemachine.Bulk; entry.State == statemachine.ApplyBatch && !bulk {
				if there {
					t.Errorf("%s has a state %s", name, entry.State)
				}
				continue
			}
			if !reflect.DeepEqual(state["Retry"], want) {
				t.Errorf("%s: Retry of %s is not the table's", name, entry.State)
			}
			if state["TimeoutSeconds"] != entry.Timeout.Seconds() {
				t.Errorf("%s: %s has TimeoutSeconds %v", name, entry.State, state["TimeoutSeconds"])
			}
			if heartbeat := entry.Heartbeat.Seconds(); heartbeat > 0 && state["HeartbeatSeconds"] != heartbeat {
				t.Errorf("%s: %s has HeartbeatSeconds %v", name, entry.State, state["HeartbeatSeconds"])
			}
		}
		for state, fields := range found {
			if _, known := table.State(state); fields["Type"] == "Task" && !known {
				t.Errorf("%s: task %s has no retry rows", name, state)
			}
		}
	}
}

func TestAChangedTableChangesTheDefinition(t *testing.T) {
	t.Parallel()
	table := statemachine.DefaultTable()
	table.States[0].Rows[1].Policy.MaxAttempts = 1
	text, err := statemachine.Definition(table, local())
	if err != nil {
		t.Fatal(err)
	}
	retry := states(t, text)[statemachine.ValidateCSVFile]["Retry"].([]any)
	if got := retry[1].(map[string]any)["MaxAttempts"]; got != 1.0 {
		t.Errorf("MaxAttempts is %v", got)
	}
}

func TestSubstitutionsAreTheOnlyNames(t *testing.T) {
	t.Parallel()
	text := string(definition(t, statemachine.Substitutions()))
	found := regexp.MustCompile(`\$\{[A-Za-z]+\}`).FindAllString(text, -1)
	slices.Sort(found)
	want := []string{"${AggregateFunctionArn}", "${NotificationTopicArn}", "${ProcessFunctionArn}",
		"${ResultBucketName}", "${ValidateFunctionArn}"}
	if got := slices.Compact(found); !slices.Equal(got, want) {
		t.Errorf("placeholders %v, want %v", got, want)
	}
	filled := strings.NewReplacer("${ValidateFunctionArn}", "csv-validate", "${ProcessFunctionArn}", "csv-process",
		"${AggregateFunctionArn}", "csv-aggregate",
		"${ResultBucketName}", "csv-results", "${NotificationTopicArn}",
		"arn:aws:sns:us-east-1:000000000000:csv-import").Replace(text)
	if filled != string(definition(t, local())) {
		t.Error("filling in the placeholders does not give the definition with the same names")
	}
}

func TestBatchOneIsTheSourcesShape(t *testing.T) {
	t.Parallel()
	single := variants()["single"]
	found := states(t, definition(t, single))
	if _, inner := found["ProcessBatch"]; inner {
		t.Error("batch 1 has an inner Map")
	}
	if _, batcher := found["ProcessUserRecords"]["ItemBatcher"]; batcher {
		t.Error("batch 1 has an ItemBatcher")
	}
	processor := found["ProcessUserRecords"]["ItemProcessor"].(map[string]any)
	if processor["StartAt"] != "ProcessSingleUserRecord" {
		t.Errorf("children start at %v", processor["StartAt"])
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*statemachine.Options)
		want   string
	}{
		{"no function", func(o *statemachine.Options) { o.ProcessFunction = "" },
			"state machine options: ProcessFunction is empty"},
		{"no bucket", func(o *statemachine.Options) { o.ResultBucket = "" },
			"state machine options: ResultBucket is empty"},
		{"no topic", func(o *statemachine.Options) { o.TopicARN = "" }, "state machine options: TopicARN is empty"},
		{"concurrency", func(o *statemachine.Options) { o.Concurrency = 10_001 },
			"state machine options: Concurrency is 10001; want 1 to 10000"},
		{"shape", func(o *statemachine.Options) { o.Shape = "round" },
			`state machine options: Shape is "round"; want bulk, batch or single`},
		{"single", func(o *statemachine.Options) { o.Shape = statemachine.Single },
			"state machine options: BatchSize is 250; the shape single takes 1 row"},
		{"batch 0", func(o *statemachine.Options) { o.BatchSize = 0 },
			"state machine options: BatchSize is 0; want 1 to 500"},
		{"batch concurrency", func(o *statemachine.Options) { o.BatchConcurrency = 41 },
			"state machine options: BatchConcurrency is 41; want 1 to 40"},
		{"percentage", func(o *statemachine.Options) { o.ToleratedFailurePercentage = 100.5 },
			"state machine options: ToleratedFailurePercentage is 100.5; want 0 to 100"},
		{"timeout", func(o *statemachine.Options) { o.Timeout = time.Millisecond },
			"state machine options: the Timeout is 1ms; want whole seconds from 1s to a year"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := local()
			tt.change(&o)
			if _, err := statemachine.Definition(statemachine.DefaultTable(), o); err == nil ||
				err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestExpressChildren(t *testing.T) {
	t.Parallel()
	o := local()
	o.Express = true
	_, err := statemachine.Definition(statemachine.DefaultTable(), o)
	if err == nil || !strings.Contains(err.Error(), "EXPRESS children have 5m0s, and the longest Retry takes") ||
		!strings.Contains(err.Error(), "ApplyBatch (CircuitOpen)") {
		t.Errorf("the default table: %v", err)
	}
	// One at a time, 250 rows may wait for each other: 250 × 95 s + 95 s.
	_, err = statemachine.Definition(statemachine.ExpressTable(), o)
	if err == nil || !strings.Contains(err.Error(),
		"the longest Retry takes 6h37m25s: 250 × 1m35s of ProcessSingleUserRecord (States.Timeout) and 1m35s of ApplyBatch (States.Timeout)") {
		t.Errorf("one row at a time: %v", err)
	}
	o.BatchSize, o.BatchConcurrency = 80, 40
	text, err := statemachine.Definition(statemachine.ExpressTable(), o)
	if err != nil {
		t.Fatal(err)
	}
	if found := strings.Count(string(text), `"ExecutionType": "EXPRESS"`); found != 1 {
		t.Errorf("%d EXPRESS processors", found)
	}
	if machine, diagnostics := asl.Parse(string(text)); machine == nil || len(diagnostics) > 0 {
		t.Errorf("diagnostics: %v", diagnostics)
	}
	o.BatchSize = 81
	if _, err := statemachine.Definition(statemachine.ExpressTable(), o); err == nil {
		t.Error("81 rows, 40 at a time, are accepted: three in a row take 4m45s and the batch before them 1m35s")
	}
	o.Shape, o.BatchSize = statemachine.Single, 1
	if _, err := statemachine.Definition(statemachine.ExpressTable(), o); err != nil {
		t.Errorf("single: %v", err)
	}
}

func TestTablesThatDoNotFit(t *testing.T) {
	t.Parallel()
	incomplete := statemachine.DefaultTable()
	incomplete.States = incomplete.States[1:]
	if _, err := statemachine.Definition(incomplete, local()); err == nil ||
		err.Error() != `state "ValidateCSVFile" is not in the retry table` {
		t.Errorf("missing state: %v", err)
	}
	wrong := statemachine.DefaultTable()
	wrong.States[0].Rows[1].Policy.Rate = 0.5
	if _, err := statemachine.Definition(wrong, local()); err == nil || !strings.Contains(err.Error(),
		"BackoffRate is 0.5") {
		t.Errorf("wrong rate: %v", err)
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	for shape, want := range map[statemachine.Shape]int{
		statemachine.Bulk: 16, statemachine.Batch: 640, statemachine.Single: 16,
	} {
		o := statemachine.Options{Shape: shape, Concurrency: 16, BatchConcurrency: 40}
		if got := o.Calls(); got != want {
			t.Errorf("%s makes %d calls at a time, want %d", shape, got, want)
		}
	}
}
