package pebble_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	store "github.com/cockroachdb/pebble/v2"
	"github.com/klauspost/compress/s2"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// keysOf returns the keys with a prefix and the decompressed sizes of their values.
func keysOf(t *testing.T, dir, prefix string) map[string]int {
	t.Helper()
	sizes := map[string]int{}
	damage(t, dir, func(db *store.DB) error {
		it, err := db.NewIter(&store.IterOptions{LowerBound: []byte(prefix), UpperBound: []byte(prefix + "\xff")})
		if err != nil {
			return err
		}
		for it.First(); it.Valid(); it.Next() {
			n, err := s2.DecodedLen(it.Value())
			if err != nil {
				return err
			}
			sizes[string(it.Key())] = n
		}
		return it.Close()
	})
	return sizes
}

// A long input is stored once, apart from the description, the steps and the history of its execution, so that the
// history is short enough to be stored with the description. An execution whose texts are all short has none apart.
func TestALongInputIsStoredOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	open, ended, short := journaltest.Begun("m:open"), journaltest.Begun("m:ended"), journaltest.First(journaltest.Begun("m:short"))
	journaltest.Commit(t, j, journaltest.LongFirst(open))
	first := journaltest.LongFirst(ended)
	journaltest.Commit(t, j, first)
	r := journaltest.Last(ended, history.Succeeded)
	r.Step, r.All = 1, renumbered(first.History, r.History)
	ended.HistorySize = int64(len(r.All))
	journaltest.Commit(t, j, r)
	short.Execution.FirstStep = 1
	journaltest.Commit(t, j, short)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	const texts = 2*10_008 + 12 // the input, and the parameters with the input in them
	apart := keysOf(t, dir, "p/")
	if len(apart) != 2 || apart["p/m:open"] < texts || apart["p/m:open"] > texts+10 ||
		apart["p/m:ended"] != apart["p/m:open"] {
		t.Errorf("%v", apart)
	}
	for _, prefix := range []string{"x/", "s/"} {
		for key, size := range keysOf(t, dir, prefix) {
			if size > 500 {
				t.Errorf("%q has %d bytes", key, size)
			}
		}
	}
	if own := keysOf(t, dir, "h/"); len(own) > 0 {
		t.Errorf("histories with keys of their own: %v", own)
	}
}

// The texts of executions that are removed are removed, too, those of child executions included.
func TestTextsAreRemovedWithTheirExecutions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	family(t, j, "old", time.Now().Add(-time.Hour))
	journaltest.Commit(t, j, journaltest.LongFirst(journaltest.Begun("m:open")))
	if n, err := j.Expire(t.Context(), time.Now()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if left := keysOf(t, dir, "p/"); len(left) != 1 || left["p/m:open"] == 0 {
		t.Errorf("left: %v", left)
	}
}

// Lost or damaged texts are reported, and a repair drops their executions and keeps the others.
func TestLostTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*store.DB) error
		problem string
	}{
		"lost": {func(db *store.DB) error { return db.Delete([]byte("p/m:open"), store.Sync) },
			"m:open: the texts stored apart: the journal is damaged: those of m:open are missing"},
		"too few": {func(db *store.DB) error {
			return db.Set([]byte("p/m:open"), s2.Encode(nil, journal.AppendTexts(nil, []string{"one"})), store.Sync)
		}, "m:open: a stored execution is truncated or damaged"},
		"truncated": {func(db *store.DB) error {
			return db.Set([]byte("p/m:open"), s2.Encode(nil, []byte{1, 9, 'x'}), store.Sync)
		}, "a stored list of texts is truncated or damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sound(t)
			j := open(t, dir)
			journaltest.Commit(t, j, journaltest.LongFirst(journaltest.Begun("m:open")))
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			damage(t, dir, c.change)
			j = open(t, dir)
			if _, err := j.Execution(t.Context(), "m:open"); name == "lost" && !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("%v", err)
			}
			var problems []string
			before, err := j.Check(t.Context(), func(err error) { problems = append(problems, err.Error()) })
			if err != nil || !strings.Contains(strings.Join(problems, "\n"), c.problem) {
				t.Errorf("%q, %v; want %q", problems, err, c.problem)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			found, err := pebble.Repair(t.Context(), dir, func(error) {})
			if err != nil || found.Executions != before.Executions-1 || found.Dropped != 1 {
				t.Errorf("%+v, %v; before %+v", found, err, before)
			}
			j = open(t, dir)
			defer j.Close()
			if _, err := j.Check(t.Context(), func(err error) { t.Error(err) }); err != nil {
				t.Error(err)
			}
			if _, err := j.Execution(t.Context(), "m:open"); !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Texts of an execution that does not refer to any are reported.
func TestTextsOutOfNowhere(t *testing.T) {
	t.Parallel()
	dir := sound(t)
	texts := s2.Encode(nil, journal.AppendTexts(nil, []string{"one"}))
	damage(t, dir, func(db *store.DB) error {
		return errors.Join(db.Set([]byte("p/m:short"), texts, nil), db.Set([]byte("p/m:none"), texts, store.Sync))
	})
	j := open(t, dir)
	defer j.Close()
	var problems []string
	if _, err := j.Check(t.Context(), func(err error) { problems = append(problems, err.Error()) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{
		"the texts stored apart of m:none: journal: no such execution: m:none",
		"the texts stored apart of m:short: the execution does not refer to them",
	}; !slices.Equal(problems, want) {
		t.Errorf("%q, want %q", problems, want)
	}
}

// TestFormat4 opens a store in which every description, step and history has its own copy of the input. It is read,
// upgraded, and what began there ends as it would have.
func TestFormat4(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open4, ended := journaltest.Begun("m:open"), journaltest.Begun("m:ended")
	first := journaltest.LongFirst(open4)
	done := journaltest.LongFirst(ended)
	open4.FirstStep, ended.FirstStep = 0, 0
	r := journaltest.Last(ended, history.Succeeded)
	r.All = renumbered(done.History, r.History)
	ended.HistorySize = int64(len(r.All))
	plant(t, dir, map[string][]byte{
		"v": []byte("4"), "x/m:ended": s2.Encode(nil, ended.AppendBinary(nil, nil)),
		"h/m:ended": s2.Encode(nil, history.AppendBinary(nil, r.All, nil)),
		"x/m:open":  s2.Encode(nil, open4.AppendBinary(nil, nil)),
		"s/m:open\x00\x00\x00\x00\x00\x00\x00\x00\x00": s2.Encode(nil,
			journal.AppendStep(nil, first.Signals, first.History, nil)),
	})
	j, err := pebble.Open(dir, pebble.Config{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := j.History(t.Context(), "m:ended"); err != nil || !reflect.DeepEqual(h, r.All) {
		t.Errorf("read-only: %+v, %v", h, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	for u, err := range j.Unfinished(t.Context(), "") {
		if err != nil || !reflect.DeepEqual(u.Execution, open4) ||
			!reflect.DeepEqual(u.Steps[0].History, first.History) {
			t.Errorf("%+v, %v", u, err)
		}
	}
	last := journaltest.Last(open4, history.Failed)
	last.Step, last.All = 1, renumbered(first.History, last.History)
	open4.HistorySize = int64(len(last.All))
	journaltest.Commit(t, j, last)
	for range 2 {
		for _, want := range []*journal.Record{r, last} {
			arn := want.Execution.ARN
			if h, err := j.History(t.Context(), arn); err != nil || !reflect.DeepEqual(h, want.All) {
				t.Errorf("%s: %+v, %v", arn, h, err)
			}
			if x, err := j.Execution(t.Context(), arn); err != nil || !reflect.DeepEqual(x, want.Execution) {
				t.Errorf("%+v, %v", x, err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j = open(t, dir)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if left := keysOf(t, dir, "p/"); len(left) > 0 {
		t.Errorf("texts apart: %v", left)
	}
}
