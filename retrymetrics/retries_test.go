package retrymetrics_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/engine/history"
	"stepback/retrymetrics"
)

func at(s float64) int64 { return int64(s * 1e9) }

func failed(id, previous int64, s float64, name string) history.Event {
	return history.Event{ID: id, Previous: previous, Time: at(s), Type: history.TaskFailed,
		More: &history.Details{Failure: history.NewFailure(name, "")}}
}

func event(id, previous int64, s float64, typ history.Type) history.Event {
	e := history.Event{ID: id, Previous: previous, Time: at(s), Type: typ}
	if typ.Entered() {
		e.Name = "Work"
	}
	return e
}

func TestRetriesAreCountedFromTheHistory(t *testing.T) {
	t.Parallel()
	var c retrymetrics.Counter
	c.Add([]history.Event{
		event(1, 0, 0, history.ExecutionStarted),
		event(2, 0, 0, history.TaskStateEntered),
		event(3, 2, 0, history.TaskScheduled),
		event(4, 3, 0, history.TaskStarted),
		failed(5, 4, 1, "Throttled"),
		event(6, 5, 3, history.TaskScheduled),
		event(7, 6, 3, history.TaskStarted),
		failed(8, 7, 3.5, "Boom"),
		event(9, 8, 7.5, history.TaskScheduled),
		event(10, 9, 7.5, history.TaskStarted),
		event(11, 10, 8, history.TaskSucceeded),
		event(12, 11, 8, history.TaskStateExited),
	})
	c.Add([]history.Event{
		event(1, 0, 0, history.ExecutionStarted),
		event(2, 0, 0, history.TaskStateEntered),
		event(3, 2, 0, history.TaskScheduled),
		event(4, 3, 0, history.TaskStarted),
		failed(5, 4, 2, "Boom"),
		event(6, 5, 2, history.ExecutionFailed),
	})
	want := []retrymetrics.Tally{
		{Key: retrymetrics.Key{State: "Work", Error: "Boom"}, Failures: 2, Retries: 1, NotRetried: 1, Recovered: 1,
			Waited: 4 * time.Second},
		{Key: retrymetrics.Key{State: "Work", Error: "Throttled"}, Failures: 1, Retries: 1, FailedAgain: 1,
			Waited: 2 * time.Second},
	}
	if got := c.Tallies(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := c.Attempts(); got != (retrymetrics.Attempts{Started: 4, Succeeded: 1, Failed: 3}) {
		t.Errorf("%+v", got)
	}
}

func TestDamagedHistoriesDoNoHarm(t *testing.T) {
	t.Parallel()
	var c retrymetrics.Counter
	c.Add([]history.Event{failed(1, 99, 0, "X"), event(2, -5, 0, history.TaskSucceeded)})
	if got := c.Tallies(); len(got) != 1 || got[0].State != "" || got[0].Waiting != 1 {
		t.Errorf("%+v", got)
	}
}

// TestFiguresAddUp checks the equations of [retrymetrics.Tally] and [retrymetrics.Attempts] on histories of all shapes.
func TestFiguresAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c retrymetrics.Counter
		for range rapid.IntRange(1, 3).Draw(t, "histories") {
			c.Add(drawHistory(t))
		}
		all := c.Attempts()
		if all.Started != all.Succeeded+all.Failed+all.Unfinished || all.Unfinished < 0 {
			t.Errorf("attempts do not add up: %+v", all)
		}
		var failures int64
		for _, x := range c.Tallies() {
			failures += x.Failures
			if x.Failures != x.Retries+x.Exhausted+x.NotRetried+x.Interrupted || x.Waiting != 0 {
				t.Errorf("failures do not add up: %+v", x)
			}
			if x.Retries != x.Recovered+x.FailedAgain+x.Unfinished || x.Unfinished < 0 {
				t.Errorf("retries do not add up: %+v", x)
			}
		}
		if failures != all.Failed {
			t.Errorf("%d failures by error, %d in all", failures, all.Failed)
		}
	})
}
