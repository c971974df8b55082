package imports

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stepback/asl/source"
	"stepback/cmd/stepback/terminal"
	"stepback/csvimport/pipeline"
)

// The cause of a function's failure is shown as its message if it is an object, and unchanged if it is plain text.
func TestTheCauseIsShownAsItsMessage(t *testing.T) {
	t.Parallel()
	for cause, want := range map[string]string{
		`{"errorMessage":"e.csv is empty","errorType":"CSVFileEmpty"}`: "  CSVFileEmpty in ValidateCSVFile: e.csv is empty\n",
		`{"other":1}`:                     "  CSVFileEmpty in ValidateCSVFile: {\"other\":1}\n",
		"text":                            "  CSVFileEmpty in ValidateCSVFile: text\n",
		"s3://csv-input/e.csv: line 1: x": "  CSVFileEmpty in ValidateCSVFile: in/e.csv: line 1: x\n",
	} {
		var b bytes.Buffer
		printReport(&b, &pipeline.Report{Status: "FAILED", Name: "e", Error: "CSVFileEmpty", State: "ValidateCSVFile",
			Cause: cause}, ".stepback", "in/e.csv")
		if !strings.Contains(b.String(), want) {
			t.Errorf("cause %s:\n%s", cause, b.String())
		}
	}
}

// The bar, for a file with a name of wide letters, is cut only between letters on terminals of all widths.
func TestTheBarIsCutBetweenLetters(t *testing.T) {
	t.Parallel()
	for width := 21; width < 120; width++ {
		var b bytes.Buffer
		p := newProgress(terminal.Streams{Err: &b, Terminal: true, Width: width}, "利用状況.csv")
		p.draw(pipeline.Progress{Stage: "ProcessUserRecords", Done: 50, Total: 100, Children: 3}, time.Now())
		line := strings.TrimPrefix(b.String(), "\r\x1b[K")
		if !utf8.ValidString(line) || source.Cells(line) >= width {
			t.Errorf("width %d: %q", width, line)
		}
	}
}

// The bar for the bundled sample fits the usual terminals.
func TestTheBarFitsUsualTerminals(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		40:  "5,000/10,000 rows, 3 failed  0s",
		60:  "5,000/10,000 rows, 3 failed (DatabaseConnectionError)  0s",
		80:  "[########........]  5,000/10,000 rows, 3 failed (DatabaseConnectionError)  0s",
		120: "[########........]  5,000/10,000 rows, 3 failed (DatabaseConnectionError)  0s  ProcessUserRecords, 16 children",
		200: "[########........]  5,000/10,000 rows, 3 failed (DatabaseConnectionError)  0s  ProcessUserRecords, 16 children  sample-10000-rows.csv",
	} {
		var b bytes.Buffer
		p := newProgress(terminal.Streams{Err: &b, Terminal: true, Width: width}, "sample-10000-rows.csv")
		p.draw(pipeline.Progress{Stage: "ProcessUserRecords", Done: 5000, Total: 10_000, Children: 16, Failed: 3,
			Error: "DatabaseConnectionError"}, p.began)
		if line := strings.TrimPrefix(b.String(), "\r\x1b[K"); line != want {
			t.Errorf("width %d: %q, want %q", width, line, want)
		}
	}
}
