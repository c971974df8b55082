package pebble

import (
	"slices"
	"testing"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// Two first steps that share a definition are prepared before either is committed: each contains the definition, so
// whichever one survives a crash can run.
func TestRecordsPreparedTogetherBothHaveTheirDefinition(t *testing.T) {
	t.Parallel()
	j, err := Open(t.TempDir(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	d := journal.NewDefinition("m", "", `{"StartAt":"P"}`, false)
	has := func(arn string) bool {
		t.Helper()
		e := new(encoder)
		x := &journal.Execution{Info: history.Info{ARN: arn}, Status: history.Running}
		r := &journal.Record{Execution: x, Definition: d, Begin: true}
		if err := j.encode(e, r); err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(e.ops, func(o operation) bool {
			return string(o.key.of(e.keys)) == definitionPrefix+
				d.ID
		})
	}
	if !has("arn:1") || !has("arn:2") {
		t.Error("a record lacks its definition, which is in another one that was not taken up yet")
	}
	taken := make(chan error, 1)
	j.Commit(&journal.Record{Execution: &journal.Execution{Info: history.Info{ARN: "arn:1"}, Status: history.Running},
		Definition: d,
		Begin:      true}, func(err error) { taken <- err })
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	if has("arn:3") {
		t.Error("the definition is written again although it is kept")
	}
}
