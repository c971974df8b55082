package retrymetrics_test

import (
	"reflect"
	"testing"
	"time"

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
		{Key: retrymetrics.Key{State: "Work", Error: "Boom"}, Failures: 2, Retries: 1, Exhausted: 1, Recovered: 1,
			Waited: 4 * time.Second},
		{Key: retrymetrics.Key{State: "Work", Error: "Throttled"}, Failures: 1, Retries: 1, Waited: 2 * time.Second},
	}
	if got := c.Tallies(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if worked, attempts := c.Worked(); worked != 4*time.Second || attempts != 4 {
		t.Errorf("worked %v in %d attempts", worked, attempts)
	}
}

func TestDamagedHistoriesDoNoHarm(t *testing.T) {
	t.Parallel()
	var c retrymetrics.Counter
	c.Add([]history.Event{failed(1, 99, 0, "X"), event(2, -5, 0, history.TaskSucceeded)})
	if got := c.Tallies(); len(got) != 1 || got[0].State != "" || got[0].Exhausted != 1 {
		t.Errorf("%+v", got)
	}
}
