package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stepback/asl/source"
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

func TestShortPath(t *testing.T) {
	t.Parallel()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "data", "a.csv"):           filepath.Join("data", "a.csv"),
		"sqlite:" + filepath.Join(dir, "users.db"):    "sqlite:users.db",
		filepath.Join(filepath.Dir(dir), "elsewhere"): filepath.Join(filepath.Dir(dir), "elsewhere"),
		"sqlite:relative.db":                          "sqlite:relative.db",
		"postgres://u:xxxxx@host" + dir + "/db":       "postgres://u:xxxxx@host" + dir + "/db",
	} {
		if got := shortPath(path); got != want {
			t.Errorf("%s is written %s, want %s", path, got, want)
		}
	}
}

// The bar, for a file with a name of wide letters, is cut only between letters on terminals of all widths.
func TestTheBarIsCutBetweenLetters(t *testing.T) {
	t.Parallel()
	for width := 21; width < 120; width++ {
		var b bytes.Buffer
		p := newProgress(streams{err: &b, terminal: true, width: width}, "利用状況.csv")
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
		p := newProgress(streams{err: &b, terminal: true, width: width}, "sample-10000-rows.csv")
		p.draw(pipeline.Progress{Stage: "ProcessUserRecords", Done: 5000, Total: 10_000, Children: 16, Failed: 3,
			Error: "DatabaseConnectionError"}, p.began)
		if line := strings.TrimPrefix(b.String(), "\r\x1b[K"); line != want {
			t.Errorf("width %d: %q, want %q", width, line, want)
		}
	}
}

// A table with letters that a terminal shows two cells wide is aligned by cells.
func TestTablesAreAlignedByCells(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	table := newTable("state", ">retries")
	table.add("検証", 3)
	table.add("Check", 12)
	table.print(&b, "")
	if want := "state  retries\n検証         3\nCheck       12\n"; b.String() != want {
		t.Errorf("the table is\n%s", b.String())
	}
}

// A table fits a narrow terminal, including the colours of its statuses.
func TestTablesFitTheScreen(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	table := newTable("state", "status", ">retries", "errors")
	table.add("Ship", "FAILED", 3, "DatabaseConnectionError, AuroraTemporaryError, DeadlockException")
	table.print(onScreen{&b, screen{width: 54, colour: true}}, "  ")
	want := "  state  status  retries  errors\n" +
		"  Ship   \x1b[31mFAILED\x1b[0m        3  DatabaseConnectionError,\n" +
		"                          AuroraTemporaryError,\n" +
		"                          DeadlockException\n"
	if b.String() != want {
		t.Errorf("the table is\n%s", b.String())
	}
}

// A table whose names would have to be broken in the middle is printed stacked.
func TestTablesThatDoNotFitAreStacked(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	table := newTable("state", "error", ">failed", ">failed again", ">waited")
	table.add("ProcessSingleUserRecord", "DatabaseConnectionError", 281, 14, "4m45s")
	table.add("ApplyBatch", "Runtime.ExitError", 2, 0, "4s")
	table.print(onScreen{&b, screen{width: 40}}, "  ")
	want := "  state  error\n" +
		"  ProcessSingleUserRecord  DatabaseConnectionError\n" +
		"      failed 281, failed again 14\n" +
		"      waited 4m45s\n" +
		"  ApplyBatch  Runtime.ExitError\n" +
		"      failed 2, failed again 0\n" +
		"      waited 4s\n"
	if b.String() != want {
		t.Errorf("the table is\n%s", b.String())
	}
}

// Lines are cut between letters, including wide ones.
func TestLinesFitTheScreen(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"short": "short", "0123456789abc": "01234567…", "検証検証検証": "検証検証…", "0123456789": "01234567…",
	} {
		if got := (screen{width: 10}).fit(line); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	stepback(t, "--version").ends(t, 0, "stepback ")
}

// TestAnAddressInUse runs serve on an address that is already in use.
func TestAnAddressInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	stepback(t, "serve", "--listen", l.Addr().String(), "--data", t.TempDir()).complains(t, 1,
		"another program is listening there", "--listen")
}
