package pebble_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// family stores an execution that failed at the given time, with a Map Run of two children, one of which has a Map
// Run itself.
func family(t *testing.T, j journal.Journal, name string, stopped time.Time) {
	t.Helper()
	put := func(arn, mapRun string) {
		x := journaltest.Begun(arn)
		x.MapRunARN = mapRun
		first := journaltest.LongFirst(x)
		journaltest.Commit(t, j, first)
		journaltest.Commit(t, j, journaltest.Second(x))
		r := journaltest.Last(x, history.Failed)
		r.All = renumbered(first.History, journaltest.Second(x).History, r.History)
		x.Stop, x.HistorySize = stopped, int64(len(r.All))
		journaltest.Commit(t, j, r)
	}
	put("m:"+name, "")
	put("m/l:"+name+"-1", "run:"+name)
	put("m/l:"+name+"-2", "run:"+name)
	put("m/l/n:"+name+"-3", "run:"+name+"-2")
	j.PutMapRun(&journal.MapRun{ARN: "run:" + name, Execution: "m:" + name, Children: "m/l:" + name + "-"}, nil)
	j.PutMapRun(&journal.MapRun{ARN: "run:" + name + "-2", Execution: "m/l:" + name + "-2", Children: "m/l/n:" + name +
		"-"}, nil)
}

// renumbered returns events one after the other, with IDs from 1.
func renumbered(parts ...[]history.Event) []history.Event {
	all := slices.Concat(parts...)
	for i := range all {
		all[i].ID, all[i].Previous = int64(i)+1, int64(i)
	}
	return all
}

// left returns the keys that still exist for the family called name.
func left(t *testing.T, j *pebble.Journal, name string) (found []string) {
	t.Helper()
	for _, arn := range []string{"m:" + name, "m/l:" + name + "-1", "m/l:" + name + "-2", "m/l/n:" + name + "-3"} {
		_, err := j.Execution(t.Context(), arn)
		_, errHistory := j.History(t.Context(), arn)
		_, errEvents := j.Signals(t.Context(), arn)
		for i, err := range []error{err, errHistory, errEvents} {
			if !errors.Is(err, journal.ErrNotFound) {
				found = append(found, fmt.Sprint(arn, i))
			}
		}
	}
	for _, arn := range []string{"run:" + name, "run:" + name + "-2"} {
		if _, err := j.MapRun(t.Context(), arn); !errors.Is(err, journal.ErrNotFound) {
			found = append(found, arn)
		}
	}
	return found
}

func TestExecutionsAreRemovedSomeTimeAfterTheirEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := pebble.Open(dir, pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	family(t, j, "old", now.Add(-91*24*time.Hour))
	family(t, j, "young", now.Add(-89*24*time.Hour))
	journaltest.Commit(t, j, journaltest.First(journaltest.Begun("m:running")))
	all := left(t, j, "young")
	if len(all) != 14 || len(left(t, j, "old")) != 14 {
		t.Fatalf("before: %v", all)
	}
	if n, err := j.Expire(t.Context(), now.Add(-pebble.DefaultRetention)); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if before, after, err := j.Compact(t.Context()); err != nil {
		t.Errorf("compaction from %d to %d bytes: %v", before, after, err)
	}
	if found := left(t, j, "old"); len(found) > 0 {
		t.Errorf("left of the old: %v", found)
	}
	if found := left(t, j, "young"); !slices.Equal(found, all) {
		t.Errorf("left of the young: %v", found)
	}
	for m, err := range j.MapRuns(t.Context(), "m") {
		if err != nil || m.ARN != "run:young" && m.ARN != "run:young-2" {
			t.Errorf("%+v, %v", m, err)
		}
	}
	for u, err := range j.Unfinished(t.Context(), "") {
		if err != nil || u.ARN != "m:running" {
			t.Errorf("%+v, %v", u, err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// Executions are kept by the clock by which they end: here it is years behind the computer's.
func TestExecutionsAreRemovedByTheConfiguredClock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := pebble.Open(dir, pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2020, 5, 1, 0, 0, 0, 0, time.UTC)
	family(t, j, "old", now.Add(-91*24*time.Hour))
	family(t, j, "young", now.Add(-89*24*time.Hour))
	journaltest.Commit(t, j, journaltest.First(journaltest.Begun("m:running"))) // after the Map Runs
	all := left(t, j, "young")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j, err = pebble.Open(dir, pebble.Config{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for len(left(t, j, "old")) > 0 {
		runtime.Gosched()
	}
	if found := left(t, j, "young"); !slices.Equal(found, all) {
		t.Errorf("left of the young: %v", found)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// A snapshot keeps what is removed later, and has nothing that is added later.
func TestASnapshotStaysTheSame(t *testing.T) {
	t.Parallel()
	j, err := pebble.Open(t.TempDir(), pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	family(t, j, "earlier", now.Add(-time.Hour))
	journaltest.Commit(t, j, journaltest.First(journaltest.Begun("m:running"))) // after the Map Runs
	past := j.Snapshot()
	family(t, j, "now", now)
	journaltest.Commit(t, j, journaltest.First(journaltest.Begun("m:running-2")))
	if n, err := j.Expire(t.Context(), now.Add(-time.Minute)); n != 1 || err != nil {
		t.Fatalf("%d executions expired: %v", n, err)
	}
	latest := j.Snapshot()
	for s, want := range map[journal.Snapshot]string{past: "m:earlier", latest: "m:now"} {
		if got := endedSince(t, s, now.Add(-2*time.Hour)); got != want {
			t.Errorf("ended: %s, want %s", got, want)
		}
		events, err := s.History(t.Context(), want)
		if err != nil || len(events) == 0 {
			t.Errorf("%d events of %s: %v", len(events), want, err)
		}
		runs := 0
		for _, err := range s.MapRuns(t.Context(), want+"\x00") {
			if runs++; err != nil {
				t.Error(err)
			}
		}
		if runs == 0 {
			t.Errorf("no Map Runs of %s", want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// endedSince returns the ARNs that EndedSince yields.
func endedSince(t *testing.T, s journal.Snapshot, since time.Time) string {
	t.Helper()
	var found []string
	for x, err := range s.EndedSince(t.Context(), since) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, x.ARN)
	}
	return strings.Join(found, " ")
}

// The executions that ended since a time are listed in the order of their ends, without child executions and those that
// are running.
func TestExecutionsThatEndedSince(t *testing.T) {
	t.Parallel()
	j, err := pebble.Open(t.TempDir(), pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	family(t, j, "later", now.Add(time.Hour))
	family(t, j, "earlier", now.Add(-time.Hour))
	family(t, j, "now", now)
	journaltest.Commit(t, j, journaltest.First(journaltest.Begun("m:running")))
	for since, want := range map[time.Time]string{now.Add(-2 * time.Hour): "m:earlier m:now m:later", now: "m:now m:later",
		now.Add(time.Nanosecond): "m:later", now.Add(2 * time.Hour): "", time.Unix(-1, 0): "m:earlier m:now m:later"} {
		s := j.Snapshot()
		if got := endedSince(t, s, since); got != want {
			t.Errorf("since %v: %s, want %s", since.Sub(now), got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
