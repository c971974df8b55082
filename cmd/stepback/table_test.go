package main

import (
	"bytes"
	"testing"
)

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
