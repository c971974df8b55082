package journal_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// TestMapRunsAreReadAsTheyWereWritten stores Map Runs with and without the fields that later versions added and
// earlier ones skip.
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
	slow, all := plain, both
	slow.Slowest = []journal.Slow{{"c:1", history.Failed, time.Minute, 7}, {"c:2", history.Succeeded, time.Second, 0}}
	all.Slowest = slow.Slowest
	for name, m := range map[string]journal.MapRun{"plain": plain, "redriven": redriven, "failing": failing,
		"both": both, "slow": slow, "all": all} {
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

// Note keeps the ten child executions that took longest, slowest first, and does not change slices it has handed out.
func TestTheSlowestAreNoted(t *testing.T) {
	t.Parallel()
	var m journal.MapRun
	begin := time.Unix(1000, 0)
	for i, seconds := range []int64{3, 1, 12, 4, 2, 9, 8, 7, 6, 5, 10, 11, 0, 20} {
		x := &journal.Execution{Status: history.Succeeded, Start: begin,
			Stop: begin.Add(time.Duration(seconds) * time.Second)}
		x.FirstItem = int64(i)
		if seconds == 20 { // redriven 12 seconds after its start
			x.Redriven = begin.Add(12 * time.Second)
		}
		before := m.Slowest
		kept := slices.Clone(before)
		m.Note(x)
		if !slices.Equal(before, kept) {
			t.Fatal("what was given away has changed")
		}
	}
	var got []int
	for _, s := range m.Slowest {
		got = append(got, int(s.Took.Seconds()))
	}
	if !slices.Equal(got, []int{12, 11, 10, 9, 8, 8, 7, 6, 5, 4}) {
		t.Errorf("%v", got)
	}
}
