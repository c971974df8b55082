package terminal

import (
	"bytes"
	"testing"
)

// A table with letters that a terminal shows two cells wide is aligned by cells.
func TestTablesAreAlignedByCells(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	table := NewTable("state", ">retries")
	table.Add("検証", 3)
	table.Add("Check", 12)
	table.Print(&b, "")
	if want := "state  retries\n検証         3\nCheck       12\n"; b.String() != want {
		t.Errorf("the table is\n%s", b.String())
	}
}

// A table fits a narrow terminal, including the colours of its statuses.
func TestTablesFitTheScreen(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	table := NewTable("state", "status", ">retries", "errors")
	table.Add("Ship", "FAILED", 3, "DatabaseConnectionError, AuroraTemporaryError, DeadlockException")
	table.Print(onScreen{&b, Screen{width: 54, colour: true}}, "  ")
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
	table := NewTable("state", "error", ">failed", ">failed again", ">waited")
	table.Add("ProcessSingleUserRecord", "DatabaseConnectionError", 281, 14, "4m45s")
	table.Add("ApplyBatch", "Runtime.ExitError", 2, 0, "4s")
	table.Print(onScreen{&b, Screen{width: 40}}, "  ")
	want := "  state  error\n" +
		"  ProcessSingleUserRecord\n" +
		"    DatabaseConnectionError\n" +
		"      failed 281, failed again 14\n" +
		"      waited 4m45s\n" +
		"  ApplyBatch  Runtime.ExitError\n" +
		"      failed 2, failed again 0\n" +
		"      waited 4s\n"
	if b.String() != want {
		t.Errorf("the table is\n%s", b.String())
	}
}

// A stacked row that is wider than the screen is broken between its cells, and not in the middle of names.
func TestStackedRowsFitTheScreen(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	table := NewTable("execution", "state machine", "status", "started", ">took", "what")
	table.Add("users-csv-e8594c61f26231883c3a11e67702671b", "csv-import", "FAILED", "2026-11-25 04:30:02", "4m6s",
		"States.ExceedToleratedFailureThreshold")
	table.Add("short", "csv-import", "RUNNING", "2026-11-25 04:30:02", "", "")
	table.Print(onScreen{&b, Screen{width: 80, colour: true}}, "")
	want := "execution  state machine  status  started  what\n" +
		"users-csv-e8594c61f26231883c3a11e67702671b  csv-import  \x1b[31mFAILED\x1b[0m\n" +
		"  2026-11-25 04:30:02  States.ExceedToleratedFailureThreshold\n" +
		"    took 4m6s\n" +
		"short  csv-import  \x1b[36mRUNNING\x1b[0m  2026-11-25 04:30:02\n"
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
		if got := (Screen{width: 10}).Fit(line); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}
