package pebble_test

import (
	"slices"
	"testing"

	store "github.com/cockroachdb/pebble/v2"

	"stepback/engine/history"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// historyKeys returns the ARNs of the executions whose histories have keys of their own.
func historyKeys(t *testing.T, dir string) (arns []string) {
	t.Helper()
	damage(t, dir, func(db *store.DB) error {
		it, err := db.NewIter(&store.IterOptions{LowerBound: []byte("h/"), UpperBound: []byte("h0")})
		if err != nil {
			return err
		}
		for it.First(); it.Valid(); it.Next() {
			arns = append(arns, string(it.Key()[len("h/"):]))
		}
		return it.Close()
	})
	return arns
}

// A short history is stored with the description of its execution, a long one has a key of its own, and both are read
// back.
func TestShortAndLongHistories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	short, long := journaltest.Last(journaltest.Begun("m:short"), history.Succeeded), long(journaltest.Begun("m:long"))
	journaltest.Commit(t, j, short)
	journaltest.Commit(t, j, long)
	for range 2 {
		for arn, want := range map[string][]history.Event{"m:short": short.All, "m:long": long.All} {
			got, err := j.History(t.Context(), arn)
			if err != nil || !slices.EqualFunc(got, want, func(a, b history.Event) bool {
				return a.ID == b.ID && a.Type == b.Type && a.Data == b.Data && a.Time == b.Time
			}) {
				t.Errorf("%s: %+v, %v; want %+v", arn, got, err, want)
			}
		}
		x, err := j.Execution(t.Context(), "m:short")
		if err != nil || x.Output != `{"b":2}` || x.HistorySize != 3 || len(x.RedriveTokens) != 0 {
			t.Errorf("%+v, %v", x, err)
		}
		if got := namesOf(t, j); !slices.Equal(got, []string{"m:long", "m:short"}) {
			t.Errorf("%v", got)
		}
		if _, err := j.Check(t.Context(), func(err error) { t.Error(err) }); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if got := historyKeys(t, dir); !slices.Equal(got, []string{"m:long"}) {
			t.Errorf("histories with keys of their own: %v", got)
		}
		j = open(t, dir)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// An EXPRESS child execution whose first run had a long history and whose second one, after a redrive, has a short one
// keeps only the second.
func TestAShortHistoryReplacesALongOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	x := journaltest.Begun("m/L:1:u")
	x.Express, x.MapRunARN = true, "mapRun:m/L:1"
	r := long(x)
	r.Begin, r.Step = true, 0
	journaltest.Commit(t, j, r)
	again := journaltest.Begun("m/L:1:u")
	again.Express, again.MapRunARN, again.RedriveCount = true, "mapRun:m/L:1", 1
	r = journaltest.Last(again, history.Succeeded)
	r.Begin, r.Step = true, 0
	journaltest.Commit(t, j, r)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := historyKeys(t, dir); len(got) > 0 {
		t.Errorf("histories with keys of their own: %v", got)
	}
	j = open(t, dir)
	defer j.Close()
	h, err := j.History(t.Context(), "m/L:1:u")
	if err != nil || len(h) != 3 || h[2].Type != history.ExecutionSucceeded {
		t.Errorf("%+v, %v", h, err)
	}
}

// Repair keeps histories of both kinds.
func TestHistoriesSurviveRepair(t *testing.T) {
	t.Parallel()
	dir := sound(t)
	found, err := pebble.Repair(t.Context(), dir, func(err error) { t.Error(err) })
	if err != nil || found.Executions < 5 {
		t.Fatal(found, err)
	}
	j := open(t, dir)
	defer j.Close()
	for _, arn := range []string{"m:short", "m:long"} {
		if h, err := j.History(t.Context(), arn); err != nil || len(h) != 3 {
			t.Errorf("%s: %+v, %v", arn, h, err)
		}
	}
	if _, err := j.Check(t.Context(), func(err error) { t.Error(err) }); err != nil {
		t.Error(err)
	}
}
