package aggregate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/objectstest"
	"stepback/csvimport/sqlitestore"
	"stepback/csvimport/validate"
	"stepback/retry"
)

// world is one execution: its file, its database and its results.
type world struct {
	objects objectstest.Memory
	store   csvimport.Store
	in      aggregate.Input
}

// newWorld uploads a file of n rows: u0,0,0 u1,1,1 …
func newWorld(t *testing.T, n int) *world {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "users.db"), sqlitestore.Full)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &world{store: store}
	var file strings.Builder
	file.WriteString("user_id,login_count,post_count\n")
	for i := range n {
		fmt.Fprintf(&file, "u%d,%d,%d\n", i, i, i)
	}
	at := csvimport.Location{Bucket: "in", Key: "a.csv"}
	w.in = aggregate.Input{
		Source: w.objects.Set(at, file.String(), ""), Execution: "a-1", Run: "a-1 2026", Rows: int64(n), Data: csvimport.Data{Location: at},
		Results: aggregate.Place{Bucket: "work", Prefix: "runs/a-1/results"}, Output: aggregate.Place{Bucket: "out",
			Prefix: "a-1"},
		ToleratedFailurePercentage: 5, StartTime: "2026-01-01T00:00:00Z",
	}
	return w
}

// results writes a Map Run's files. Each child is a JSON object of the given fields; Input and Output are given as
// objects and written as JSON text.
func (w *world) results(t *testing.T, uuid string, files map[string][]map[string]any) {
	t.Helper()
	type ref struct {
		Key  string
		Size int
	}
	manifest := map[string][]ref{"SUCCEEDED": {}, "FAILED": {}, "PENDING": {}}
	for name, children := range files {
		for _, c := range children {
			for _, text := range []string{"Input", "Output"} {
				if v, ok := c[text]; ok {
					inner, err := json.Marshal(v)
					if err != nil {
						t.Fatal(err)
					}
					c[text] = string(inner)
				}
			}
		}
		content, err := json.Marshal(children)
		if err != nil {
			t.Fatal(err)
		}
		key := "runs/a-1/results/" + uuid + "/" + name + "_0.json"
		w.objects.Set(csvimport.Location{Bucket: "work", Key: key}, string(content), "")
		manifest[name] = append(manifest[name], ref{key, len(content)})
	}
	content, err := json.Marshal(map[string]any{"DestinationBucket": "work", "MapRunArn": "arn:" + uuid,
		"ResultFiles": manifest})
	if err != nil {
		t.Fatal(err)
	}
	w.objects.Set(csvimport.Location{Bucket: "work", Key: "runs/a-1/results/" + uuid + "/manifest.json"},
		string(content), "")
}

func (w *world) aggregator() *aggregate.Aggregator {
	return &aggregate.Aggregator{Objects: &w.objects, Store: w.store,
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC) }}
}

func (w *world) run(t *testing.T) aggregate.Output {
	t.Helper()
	out, err := w.aggregator().Aggregate(t.Context(), w.in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) apply(t *testing.T, row int64) {
	t.Helper()
	inc := csvimport.Increment{UserID: fmt.Sprintf("u%d", row), LoginCount: row, PostCount: row}
	if _, err := w.store.Apply(t.Context(), csvimport.Run{File: w.in.Source, Name: w.in.Run}, row, inc); err != nil {
		t.Fatal(err)
	}
}

func (w *world) content(t *testing.T, at csvimport.Location) string {
	t.Helper()
	text, ok := w.objects.Content(at)
	if !ok {
		t.Fatalf("%s is missing", at)
	}
	return text
}

func record(i int) map[string]string {
	n := fmt.Sprint(i)
	return map[string]string{"user_id": "u" + n, "login_count": n, "post_count": n}
}

func failed(outcome string, i int, name, cause string, attempts int) map[string]any {
	return map[string]any{"outcome": outcome, "row": i, "record": record(i), "error": name, "cause": cause,
		"attempts": attempts, "firstTime": "T1", "lastTime": "T2"}
}

func wantCounts(t *testing.T, out aggregate.Output, rows, applied, already, rejected, dead int64) {
	t.Helper()
	got := [5]int64{out.Rows, out.Applied, out.AlreadyApplied, out.Rejected, out.DeadLettered}
	if want := [5]int64{rows, applied, already, rejected, dead}; got != want {
		t.Errorf("rows, applied, alreadyApplied, rejected, deadLettered are %v, want %v", got, want)
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6)
	rejected := failed("rejected", 4, "ValidationError", `{"errorMessage":"=bad, very","errorType":"ValidationError"}`,
		1)
	rejected["record"] = map[string]string{"user_id": "=u4", "login_count": "-4", "post_count": "4", "line": "9",
		"problem": "negative"}
	w.results(t, "run", map[string][]map[string]any{"SUCCEEDED": {
		{"Name": "c0", "Output": map[string]any{"applied": []int{0, 2}, "alreadyApplied": []int{1}, "failed": []any{}}},
		{"Name": "c1", "Output": map[string]any{"applied": []int{}, "alreadyApplied": []int{5}, "failed": []any{
			failed("deadLettered", 3, "DeadlockException", "still locked", 5), rejected,
		}}},
	}})
	out := w.run(t)
	wantCounts(t, out, 6, 2, 2, 1, 1)
	if out.WithinTolerance || fmt.Sprintf("%.3f", out.FailedPercentage) != "33.333" {
		t.Errorf("failed are %v %%, within tolerance %v", out.FailedPercentage, out.WithinTolerance)
	}
	if got, want := w.content(t, out.DeadLetters),
		`{"reason":"RetriesExhausted","error":"DeadlockException","cause":"still locked","attempts":5,"firstTime":"T1","lastTime":"T2","row":3,"line":5,"payload":{"login_count":"3","post_count":"3","user_id":"u3"},"letter":"`+
			w.letter(5)+"\"}\n"; got != want {
		t.Errorf("dead letters are\n%s\nwant\n%s", got, want)
	}
	corrections := w.content(t, out.Corrections)
	if want := "user_id,login_count,post_count,line,error,reason,letter\nu3,3,3,5,DeadlockException,still locked," + w.letter(5) +
		"\n'=u4,'-4,4,9,ValidationError,\"'=bad, very\"," + w.letter(9) + "\n"; corrections != want {
		t.Errorf("corrections are\n%s\nwant\n%s", corrections, want)
	}
	var summary aggregate.Output
	if err := json.Unmarshal([]byte(w.content(t, out.Summary)), &summary); err != nil || summary.Applied != 2 ||
		summary.Errors["DeadlockException"] != 1 {
		t.Errorf("the summary is %+v, %v", summary, err)
	}
	w.reupload(t, corrections)
}

// TestARejectedRowThatWasCounted: the row's batch counted it, but the response was lost. The row must not be reported
// for correction as if it had not been counted, and a row that was not counted can no longer be.
func TestARejectedRowThatWasCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.apply(t, 1)
	bad := func(row int) map[string]any { return failed("rejected", row, "ValidationError", "bad", 1) }
	w.results(t, "run", map[string][]map[string]any{"SUCCEEDED": {
		{"Name": "c0", "Output": map[string]any{"applied": []int{}, "alreadyApplied": []int{}, "rejected": []any{},
			"oneByOne": map[string]any{
				"applied":        []int{0},
				"alreadyApplied": []int{},
				"failed":         []any{bad(1), bad(2)},
			}}},
	}})
	out := w.run(t)
	wantCounts(t, out, 3, 2, 0, 1, 0)
	if out.SettledAsApplied != 1 {
		t.Errorf("%d rows were settled as applied, want 1", out.SettledAsApplied)
	}
	if got, want := w.content(t, out.Corrections),
		"user_id,login_count,post_count,line,error,reason,letter\nu2,2,2,4,ValidationError,bad,"+w.letter(4)+"\n"; got != want {
		t.Errorf("corrections are\n%s\nwant\n%s", got, want)
	}
	inc := csvimport.Increment{UserID: "u2", LoginCount: 2, PostCount: 2}
	var f *csvimport.Failure
	if outcome, err := w.store.Apply(t.Context(), csvimport.Run{File: w.in.Source, Name: w.in.Run}, 2, inc); !errors.As(
		err, &f) ||
		f.Name != retry.RetryNotWorthwhile {
		t.Errorf("a late attempt at the rejected row: %s, %v", outcome, err)
	}
}

// TestRetried: rows that failed in a batch count under the errors that the batch reports, the remaining ones under
// BatchFailed, and a single row under its last error.
func TestRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 7)
	left := func(applied []int, failed ...any) map[string]any {
		return map[string]any{"applied": applied, "alreadyApplied": []int{}, "failed": failed}
	}
	w.results(t, "run", map[string][]map[string]any{"SUCCEEDED": {
		{
			"Name": "c0",
			"Output": map[string]any{"applied": [][2]int{{0, 1}}, "alreadyApplied": []int{}, "rejected": []any{},
				"errors":   map[string]int{"DeadlockException": 2},
				"oneByOne": left([]int{2}, failed("deadLettered", 3, "DeadlockException", "still locked", 5))},
		},
		{"Name": "c1", "Output": map[string]any{"applied": []int{}, "alreadyApplied": []int{}, "rejected": []any{},
			"oneByOne": left([]int{4, 5})}},
		{"Name": "c2", "Output": map[string]any{"applied": []int{}, "alreadyApplied": []int{}, "failed": []any{
			failed("deadLettered", 6, "TimeoutError", "late", 3)}}},
	}})
	out := w.run(t)
	wantCounts(t, out, 7, 5, 0, 0, 2)
	if got := fmt.Sprint(out.Retried); got != "map[BatchFailed:2 DeadlockException:2 TimeoutError:1]" ||
		out.Recovered != 3 {
		t.Errorf("tried again: %s, of which %d were applied", got, out.Recovered)
	}
}

// free is a validate.Letters whose letters are all dead.
type free struct{}

func (free) Of(_ context.Context, source csvimport.Source, _ string) (string, error) {
	return csvimport.Letters(source), nil
}

func (free) Enlist(context.Context, csvimport.Source, string, []csvfile.RowLetter) (map[int64]string, error) {
	return nil, nil
}

// letter returns the ID of the dead letter for a line.
func (w *world) letter(line int64) string {
	return csvimport.LetterID(csvimport.EarlierLetters(w.in.Source), line)
}

// reupload validates a corrections file as written, after fixing one value.
func (w *world) reupload(t *testing.T, corrections string) {
	t.Helper()
	source := w.objects.Set(csvimport.Location{Bucket: "in", Key: "fixed.csv"}, strings.Replace(corrections, "'-4", "4",
		1), "")
	out, err := (&validate.Validator{Objects: &w.objects, Letters: free{}}).Validate(t.Context(),
		validate.Input{Source: source,
			WorkBucket: "work"})
	if err != nil {
		t.Fatal(err)
	}
	if !out.Valid || out.Rows != 2 || out.ProblemCount != 0 {
		t.Errorf("the corrections file is validated as %+v", out)
	}
	if got, want := w.content(t, out.Data.Location),
		"user_id,login_count,post_count,line,problem,letter\nu3,3,3,2,,"+w.letter(5)+"\n=u4,4,4,3,,"+w.letter(9)+"\n"; got != want {
		t.Errorf("its copy is\n%s\nwant\n%s", got, want)
	}
}

func TestSingleRecordChildren(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	var children []map[string]any
	for i := range 40 {
		children = append(children, map[string]any{"Name": fmt.Sprint(i), "Output": map[string]any{"outcome": "applied",
			"row": i, "userId": "u"}})
	}
	children[3]["Output"] = map[string]any{"outcome": "alreadyApplied", "row": 3, "userId": "u3"}
	children[4]["Output"] = failed("deadLettered", 4, "RetryNotWorthwhile", "not worth it", 1)
	children[5]["Output"] = failed("rejected", 5, "ValidationError", "no", 1)
	w.results(t, "run", map[string][]map[string]any{"SUCCEEDED": children})
	out := w.run(t)
	wantCounts(t, out, 40, 37, 1, 1, 1)
	if !out.WithinTolerance || out.FailedPercentage != 5 {
		t.Errorf("failed are %v %%, within tolerance %v; want 5 and true", out.FailedPercentage, out.WithinTolerance)
	}
	if !strings.Contains(w.content(t, out.DeadLetters), `"reason":"NotWorthwhile"`) {
		t.Error("the dead letter's reason is not NotWorthwhile")
	}
}

// TestFailedPendingAndMissing has a child that failed after its first record was counted, one that was never started,
// and rows that no result file names, one of which another run has counted.
func TestFailedPendingAndMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 9)
	w.apply(t, 2)
	w.apply(t, 6) // counted, but its child's result was lost
	earlier := csvimport.Run{File: w.in.Source, Name: "a-0 2025"}
	if _, err := w.store.Apply(t.Context(), earlier, 8, csvimport.Increment{UserID: "u8", LoginCount: 8,
		PostCount: 8}); err != nil {
		t.Fatal(err)
	}
	item := func(i int) map[string]any { return map[string]any{"row": i, "record": record(i)} }
	w.in.MapError = &aggregate.MapError{Error: "States.ExceedToleratedFailureThreshold", Cause: "c"}
	w.results(t, "run", map[string][]map[string]any{
		"SUCCEEDED": {{"Name": "c0", "Output": map[string]any{"applied": []int{0, 1}}}},
		"FAILED": {{"Name": "c1", "Status": "TIMED_OUT", "StartDate": "S", "StopDate": "E",
			"Input": map[string]any{"BatchInput": map[string]any{"source": w.in.Source},
				"Items": []any{item(2), item(3)}}}},
		"PENDING": {{"Name": "c2", "Status": "PENDING", "Input": map[string]any{"source": w.in.Source, "row": 4,
			"record": record(4)}}},
	})
	for range 2 { // the step may be retried
		out := w.run(t)
		wantCounts(t, out, 9, 4, 1, 0, 4)
		if out.SettledAsApplied != 2 || out.WithinTolerance {
			t.Errorf("settled as applied %d, within tolerance %v; want 2 and false", out.SettledAsApplied,
				out.WithinTolerance)
		}
		want := `{"reason":"ChildFailed","error":"States.Timeout","cause":"child execution c1 ended with status TIMED_OUT","attempts":0,"firstTime":"S","lastTime":"E","row":3,"line":5,"payload":{"login_count":"3","post_count":"3","user_id":"u3"},"letter":"` + w.letter(5) + `"}
{"reason":"NotStarted","error":"NotStarted","cause":"not started: the Map Run stopped","attempts":0,"row":4,"line":6,"payload":{"login_count":"4","post_count":"4","user_id":"u4"},"letter":"` + w.letter(6) + `"}
{"reason":"NotProcessed","error":"NotProcessed","cause":"no result of the Map names this row; the Map failed: States.ExceedToleratedFailureThreshold","attempts":0,"row":5,"line":7,"payload":{"user_id":"u5","login_count":"5","post_count":"5"},"letter":"` + w.letter(7) + `"}
{"reason":"NotProcessed","error":"NotProcessed","cause":"no result of the Map names this row; the Map failed: States.ExceedToleratedFailureThreshold","attempts":0,"row":7,"line":9,"payload":{"user_id":"u7","login_count":"7","post_count":"7"},"letter":"` + w.letter(9) + `"}
`
		if got := w.content(t, out.DeadLetters); got != want {
			t.Errorf("dead letters are\n%s\nwant\n%s", got, want)
		}
	}
	_, err := w.store.Apply(t.Context(), csvimport.Run{File: w.in.Source, Name: w.in.Run}, 7,
		csvimport.Increment{UserID: "u7", LoginCount: 7, PostCount: 7})
	if err == nil || csvimport.AsFailure(err).Name != retry.RetryNotWorthwhile {
		t.Errorf("a late attempt on a dead-lettered row gets %v, want RetryNotWorthwhile", err)
	}
}

func TestNewestManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.results(t, "zzz-old", map[string][]map[string]any{"SUCCEEDED": {{"Name": "c",
		"Output": map[string]any{"applied": []int{0}}}}})
	w.results(t, "aaa-new", map[string][]map[string]any{"SUCCEEDED": {{"Name": "c",
		"Output": map[string]any{"applied": []int{1}, "alreadyApplied": []int{0}}}}})
	wantCounts(t, w.run(t), 2, 1, 1, 0, 0)
}

func TestNoManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.in.MapError = &aggregate.MapError{Error: "States.ItemReaderFailed"}
	wantCounts(t, w.run(t), 3, 0, 0, 0, 3)
	empty := newWorld(t, 0)
	out := empty.run(t)
	wantCounts(t, out, 0, 0, 0, 0, 0)
	if !out.WithinTolerance || out.FailedPercentage != 0 {
		t.Errorf("an empty file: %v %%, within tolerance %v", out.FailedPercentage, out.WithinTolerance)
	}
}

func TestMismatch(t *testing.T) {
	t.Parallel()
	succeeded := func(outputs ...any) map[string][]map[string]any {
		var children []map[string]any
		for i, o := range outputs {
			children = append(children, map[string]any{"Name": fmt.Sprintf("c%d", i), "Output": o})
		}
		return map[string][]map[string]any{"SUCCEEDED": children}
	}
	const where = "; the result files are under s3://work/runs/a-1/results, nothing was written"
	for name, test := range map[string]struct {
		files map[string][]map[string]any
		rows  int64
		want  string
	}{
		"two outcomes": {succeeded(map[string]any{"applied": []int{0}, "alreadyApplied": []int{0}}), 2,
			"AggregateMismatch: execution a-1: row 0 is both applied and alreadyApplied" + where},
		"beyond the file": {succeeded(map[string]any{"applied": []int{2}}), 2,
			"AggregateMismatch: execution a-1: a result is about row 2, but s3://in/a.csv has rows 0 to 1" + where},
		"more rows": {succeeded(map[string]any{"applied": []int{0, 1}}), 3,
			"AggregateMismatch: execution a-1: s3://in/a.csv has 2 rows, but the file was validated with 3" + where},
		"strange output": {succeeded("text"), 2,
			"AggregateMismatch: s3://work/runs/a-1/results/run/SUCCEEDED_0.json is not what the Map's ResultWriter writes: the output of child execution c0: json: cannot unmarshal string into Go value of type aggregate.childOutput"},
		"strange outcome": {succeeded(map[string]any{"outcome": "maybe", "row": 0}), 2,
			`AggregateMismatch: s3://work/runs/a-1/results/run/SUCCEEDED_0.json is not what the Map's ResultWriter writes: the output of child execution c0: row 0 has the outcome "maybe", which is none of applied, alreadyApplied, rejected and deadLettered`},
		"too many rows": {nil, math.MaxInt64,
			"InvalidInput: rows is 9223372036854775807; it is the number of rows ValidateCSVFile counted, at most 4294967296"},
		"no manifest": {nil, 2, "AggregateMismatch: execution a-1: the Map reports success, but there is no manifest.json under s3://work/runs/a-1/results/: check the Map's ResultWriter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2)
			w.in.Rows = test.rows
			if test.files != nil {
				w.results(t, "run", test.files)
			}
			_, err := w.aggregator().Aggregate(t.Context(), w.in)
			if err == nil || err.Error() != test.want {
				t.Errorf("error is\n%v\nwant\n%s", err, test.want)
			}
			if _, ok := w.objects.Content(csvimport.Location{Bucket: "out", Key: "a-1/summary.json"}); ok {
				t.Error("a summary was written")
			}
		})
	}
}

// A redriven Map Run may name a row twice, with the same outcome.
func TestSameOutcomeTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	dead := failed("deadLettered", 1, "TimeoutError", "c", 3)
	w.results(t, "run", map[string][]map[string]any{"SUCCEEDED": {
		{"Name": "c0", "Output": map[string]any{"applied": []int{0}, "failed": []any{dead, dead}}},
		{"Name": "c1", "Output": map[string]any{"applied": []int{0}}},
	}})
	out := w.run(t)
	wantCounts(t, out, 2, 1, 0, 0, 1)
	if n := strings.Count(w.content(t, out.DeadLetters), "\n"); n != 1 {
		t.Errorf("%d dead letters, want 1", n)
	}
}

// TestOutputsAlone: with Transformation COMPACT the ResultWriter keeps just the outputs of successful batches. In
// that case a dead letter's result holds the child execution.
func TestOutputsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	dead := failed("deadLettered", 3, "DeadlockException", "still locked", 5)
	dead["child"] = "arn:child"
	w.results(t, "run", map[string][]map[string]any{"SUCCEEDED": {
		{
			"applied":        [][2]int{{0, 1}},
			"alreadyApplied": []int{},
			"rejected":       []any{},
			"errors":         map[string]int{"DeadlockException": 2},
			"oneByOne":       map[string]any{"applied": []int{2}, "alreadyApplied": []int{}, "failed": []any{dead}},
		},
	}})
	out := w.run(t)
	wantCounts(t, out, 4, 3, 0, 0, 1)
	if got := w.content(t, out.DeadLetters); !strings.Contains(got, `"child":"arn:child"`) ||
		!strings.Contains(got, `"row":3,`) {
		t.Errorf("dead letters are\n%s", got)
	}
}
