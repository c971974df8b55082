package journal_test

import (
	"reflect"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// TestMapRunsAreReadAsTheyWereWritten keeps Map Runs with and without what later versions added, which earlier ones
// pass over.
func TestMapRunsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	plain := journal.MapRun{
		ARN: "arn", Execution: "x", Machine: "m", Children: "c", Status: history.Running, Source: `"1"`,
		Started:      time.Unix(1, 2).UTC(),
		MapRunLimits: journal.MapRunLimits{MaxConcurrency: 3, ToleratedFailurePercentage: 1.5, PercentageGiven: true},
		Items:        journal.Tally{Succeeded: 4, Aborted: 5}, Executions: journal.Tally{Failed: 6},
	}
	redriven := plain
	redriven.RedriveCount, redriven.Redriven, redriven.Items.NotRedrivable = 2, time.Unix(3, 4).UTC(), 7
	failing := plain
	failing.Failure = history.NewFailure("States.ItemReaderFailed", "the disk is gone")
	both := redriven
	both.Failure = failing.Failure
	for name, m := range map[string]journal.MapRun{"plain": plain, "redriven": redriven, "failing": failing,
		"both": both} {
		raw := m.AppendBinary(nil)
		got, err := journal.DecodeMapRun(raw)
		if err != nil || !reflect.DeepEqual(*got, m) {
			t.Errorf("%s: %+v, %v\nwant %+v", name, got, err, m)
		}
		if _, err := journal.DecodeMapRun(raw[:len(raw)-1]); err == nil {
			t.Errorf("%s: one that is cut short is read", name)
		}
	}
}
