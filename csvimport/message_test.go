package csvimport_test

import (
	"testing"

	"stepback/csvimport"
)

func TestMessageIDNeverChanges(t *testing.T) {
	t.Parallel()
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "n 2026-11-22T00:00:00Z"}
	if got, want := csvimport.MessageID(run, "csv-import.finished"), "48200db4-37f3-5d21-8c4b-9bda1e036a98"; got != want {
		t.Errorf("the message's ID is %s, want %s", got, want)
	}
}
