package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"

	"stepback/csvimport/handlers"
	"stepback/csvimport/pipeline"
	"stepback/csvimport/process"
	"stepback/local/services/lambda/functions"
	"stepback/statemachine"
)

// states returns how often an execution entered each of its states.
func (tr *trial) states(t *testing.T, r *pipeline.Report) map[string]int {
	t.Helper()
	p := tr.open(t)
	defer closed(t, p)
	events, err := p.Journal().History(t.Context(), r.Execution)
	if err != nil {
		t.Fatal(err)
	}
	entered := map[string]int{}
	for i := range events {
		if events[i].Type.Entered() {
			entered[events[i].Name]++
		}
	}
	return entered
}

// TestImportInParts imports files in parts: the same rows are applied, rejected and dead-lettered as from the whole
// file, under the same numbers.
func TestImportInParts(t *testing.T) {
	t.Parallel()
	rows := activities(2000, 97)
	shiftJIS := func(s string) string {
		s, err := japanese.ShiftJIS.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, c := range map[string]struct {
		content string
		shape   statemachine.Shape
		rounds  int // of the validation
	}{
		"plain, in bulk":            {plain(rows), "bulk", 1},
		"plain, in batches":         {plain(rows), "batch", 1},
		"CRLF and semicolons":       {text("\uFEFFユーザーID;ログイン回数;投稿回数", ";", "\r\n", rows), "bulk", 1},
		"Shift_JIS after the head":  {plain(rows) + strings.Repeat("\n", 70_000) + shiftJIS("表示,1,2\n表計,3,4\nソ,5,6\n"), "bulk", 2},
		"line breaks in all values": {breaks(rows), "bulk", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, parts := newTrial(t, "activity.csv", c.content), newTrial(t, "activity.csv", c.content)
			parts.cfg.PartBytes = 4000
			var reports []*pipeline.Report
			for _, tr := range []*trial{whole, parts} {
				tr.cfg.Shape, tr.cfg.Batch = c.shape, 50
				reports = append(reports, tr.run(t, false))
			}
			a, b := reports[0], reports[1]
			a.Rows.FailedPercent, b.Rows.FailedPercent = 0, 0 // equal, or rounded
			if a.Status != b.Status || a.Verdict() != b.Verdict() || *a.File != *b.File || *a.Rows != *b.Rows ||
				a.Rows.Rejected == 0 {
				t.Errorf("in parts: %s %s %+v %+v; as a whole: %s %s %+v %+v", b.Status, b.Error, b.File, b.Rows, a.Status, a.Error,
					a.File, a.Rows)
			}
			entered := parts.states(t, b)
			wantParts := (len(c.content) + 3999) / 4000
			if n := entered["ProcessUserRecords"]; n < wantParts/4 || n > wantParts || n != entered["AggregateResults"] {
				t.Errorf("%d parts were applied, want about %d: %v", n, wantParts, entered)
			}
			if entered["ValidateRanges"] != c.rounds || entered["ValidateCSVFile"] != c.rounds+1 {
				t.Errorf("%d rounds, want %d: %v", entered["ValidateRanges"], c.rounds, entered)
			}
			sameRejections(t, a, b)
			if got, want := parts.users(t), whole.users(t); !maps.Equal(got, want) {
				t.Errorf("%d users, want the %d of the whole file with the same counts", len(got), len(want))
			}
			again := parts.run(t, true)
			if again.Rows.AlreadyApplied != b.Rows.Applied || again.Rows.Applied != 0 {
				t.Errorf("again: %+v, after %+v", *again.Rows, *b.Rows)
			}
		})
	}
}

// TestImportInPartsWithFaults: rows of parts that fail are retried, dead-lettered and reported under the numbers of the
// file.
func TestImportInPartsWithFaults(t *testing.T) {
	t.Parallel()
	for _, shape := range statemachine.Shapes() {
		t.Run(string(shape), func(t *testing.T) {
			t.Parallel()
			rows := activities(1500, 97)
			tr := newTrial(t, "activity.csv", plain(rows))
			tr.cfg.Shape, tr.cfg.PartBytes = shape, 4000
			tr.fault(t, "ProcessSingleUserRecord:AccessDenied:1%", "ProcessSingleUserRecord:DeadlockException:5%",
				"ValidateRange:S3.InternalError:20%", "AggregateResults:S3.SlowDown:20%", "ProcessSingleUserRecord:crash:1%")
			r := tr.run(t, false)
			ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
			tr.accounts(t, r, rows)
			if r.Rows.DeadLettered == 0 || r.Rows.Rejected == 0 {
				t.Errorf("%+v", *r.Rows)
			}
			lettersName(t, r)
			tr.findsChildren(t, r, 1500)
		})
	}
}

// findsChildren checks that the child execution of a row is found, and has the row in its input.
func (tr *trial) findsChildren(t *testing.T, r *pipeline.Report, rows int64) {
	t.Helper()
	p := tr.open(t)
	defer closed(t, p)
	parent, err := p.Journal().Execution(t.Context(), r.Execution)
	if err != nil {
		t.Fatal(err)
	}
	for row := int64(0); row < rows; row += 149 {
		x, inPart, err := pipeline.ChildOfRow(t.Context(), p.Journal(), parent, row)
		if err != nil {
			t.Fatal(err)
		}
		if user := activities(int(rows), 97)[row].user; !strings.Contains(x.Input, fmt.Sprintf(`"row":%d,"record":{"user_id":%q`, inPart, user)) {
			t.Errorf("the child of row %d, %d in its part, has the input %.400s", row, inPart, x.Input)
		}
	}
	if _, _, err := pipeline.ChildOfRow(t.Context(), p.Journal(), parent, rows); err == nil {
		t.Errorf("row %d has a child", rows)
	}
}

// breaks returns a file in which each user's name begins with line breaks and quotes.
func breaks(rows []activity) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for _, r := range rows {
		b.WriteString(strings.Replace(text("", ",", "", []activity{r}), r.user, "\"\n\"\"\n\"\",1,2\n"+r.user+"\"", 1) + "\n")
	}
	return b.String()
}

// sameRejections compares the rejected rows of two imports of a file, with their lines.
func sameRejections(t *testing.T, a, b *pipeline.Report) {
	t.Helper()
	of := func(r *pipeline.Report) string {
		var all []string
		for _, c := range corrections(t, r) {
			if c[4] == "ValidationError" {
				all = append(all, strings.Join(c, "|"))
			}
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	if x, y := of(a), of(b); x != y {
		t.Errorf("the rejected rows of the parts are\n%s\nwant\n%s", y, x)
	}
}

// lettersName checks that dead letters have rows, lines and IDs of the whole file.
func lettersName(t *testing.T, r *pipeline.Report) {
	t.Helper()
	last := int64(-1)
	for _, line := range lines(t, r.Outputs.DeadLetters) {
		var l struct {
			Row, Line int64
			Letter    string
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Line != l.Row+2 {
			t.Errorf("row %d is said to be in line %d", l.Row, l.Line)
		}
		if want := fmt.Sprintf("row:%s:%d", r.Name, l.Line); l.Letter != want {
			t.Errorf("the letter of line %d is %s, want %s", l.Line, l.Letter, want)
		}
		last = max(last, l.Row)
	}
	if last < 1000 {
		t.Errorf("the last dead letter is that of row %d of 2,000", last)
	}
}

// TestImportInPartsThatFails: a Map that fails in a part ends the import. The rows of later parts stay open, and
// another run applies them.
func TestImportInPartsThatFails(t *testing.T) {
	t.Parallel()
	rows := activities(1000, 0)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.cfg.Shape, tr.cfg.Batch, tr.cfg.PartBytes = "bulk", 50, 4000
	broken := true
	tr.cfg.AdjustFunction(func(_ string, l *functions.Program) {
		next, ok := l.Handler.(handlers.Func[process.Answer])
		if !ok {
			return
		}
		l.Handler = func(ctx context.Context, event json.RawMessage) (process.Answer, error) {
			var in process.Event
			if err := json.Unmarshal(event, &in); err == nil && broken && in.Offset.Rows > 0 {
				return process.Answer{Row: &process.Output{}}, nil // without the members that the next state reads
			}
			return next(ctx, event)
		}
	})
	r := tr.run(t, false)
	ended(t, r, "FAILED", "States.ExceedToleratedFailureThreshold", pipeline.Unsuccessful)
	n := *r.Rows
	if n.Total != 1000 || n.Applied == 0 || n.DeadLettered == 0 || n.NotStarted == 0 || n.Rejected != 0 ||
		n.Applied+n.DeadLettered+n.NotStarted != 1000 {
		t.Fatalf("%+v", n)
	}
	broken = false
	again := *tr.run(t, true).Rows
	if again.AlreadyApplied != n.Applied || again.DeadLettered != n.DeadLettered || again.Applied != n.NotStarted ||
		again.NotStarted != 0 {
		t.Errorf("again: %+v, after %+v", again, n)
	}
}

// TestRefusedInParts: what is wrong with a large file is reported as for a small one.
func TestRefusedInParts(t *testing.T) {
	t.Parallel()
	rows := plain(activities(1000, 0))
	for name, c := range map[string]struct{ content, failure, cause string }{
		"damaged": {rows + "\xE4\xB8,1,2\n" + strings.Repeat("田中,1,2\n", 10), "CSVEncodingUnsupported",
			"s3://csv-input/activity.csv: line 1002, byte"},
		"header":   {"name" + strings.Repeat(",x\n", 10_000), "CSVHeaderInvalid", "s3://csv-input/activity.csv: line 1: "},
		"all bad":  {header + strings.Repeat("\nu,x,1", 2000), "ValidationError", "none of the 2000 rows can be imported; the first problem is in line 2: login_count \"x\""},
		"lettered": {"user_id,login_count,post_count,letter\n" + strings.Repeat("u,1,2,\n", 1000), "CSVFileTooLarge", "a file with the column letter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, "activity.csv", c.content)
			tr.cfg.PartBytes = 4000
			r := tr.run(t, false)
			ended(t, r, "FAILED", c.failure, pipeline.NeedsPerson)
			if r.Rows != nil || !strings.Contains(r.Cause, c.cause) {
				t.Errorf("rows %v, cause %q, want one with %q", r.Rows, r.Cause, c.cause)
			}
		})
	}
}
