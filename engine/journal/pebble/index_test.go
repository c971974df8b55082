package pebble_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	store "github.com/cockroachdb/pebble/v2"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// namesOf returns the ARNs of the executions of machine "m" with the given statuses.
func namesOf(t *testing.T, j *pebble.Journal, statuses ...history.Status) (arns []string) {
	t.Helper()
	for x, err := range j.Listed(t.Context(), &journal.List{Of: "m", Statuses: statuses}) {
		if err != nil {
			t.Fatal(err)
		}
		arns = append(arns, x.ARN)
	}
	return arns
}

// someExecutions creates a store with one running, one failed and one succeeded execution.
func someExecutions(t *testing.T, dir string) {
	t.Helper()
	j := open(t, dir)
	for _, arn := range []string{"arn:running", "arn:failed", "arn:well"} {
		journaltest.Commit(t, j, journaltest.First(journaltest.Begun(arn)))
	}
	journaltest.Commit(t, j, journaltest.Last(journaltest.Begun("arn:failed"), history.Failed))
	journaltest.Commit(t, j, journaltest.Last(journaltest.Begun("arn:well"), history.Succeeded))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnIndexThatIsMissingIsRebuilt(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(db *store.DB) error{
		"nothing is lost": func(*store.DB) error { return nil },
		"format 2": func(db *store.DB) error {
			_ = db.DeleteRange([]byte("i"), []byte("j"), nil)
			return db.Set([]byte("v"), []byte("2"), store.Sync)
		},
		"format 3": func(db *store.DB) error { return db.Set([]byte("v"), []byte("3"), store.Sync) },
		"half an index": func(db *store.DB) error {
			_ = db.Set([]byte("i/12345678"), nil, nil)
			return db.Delete([]byte("i"), store.Sync)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			someExecutions(t, dir)
			damage(t, dir, lose)
			readOnly, err := pebble.Open(dir, pebble.Config{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"arn:failed", "arn:running", "arn:well"}
			if got := namesOf(t, readOnly); !slices.Equal(got, want) {
				t.Errorf("read-only: %v, want %v", got, want)
			}
			if err := readOnly.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				j := open(t, dir)
				if got := namesOf(t, j); !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
				if got := namesOf(t, j, history.Failed); !slices.Equal(got, want[:1]) {
					t.Errorf("failed: %v", got)
				}
				if _, err := j.Check(t.Context(), func(err error) { t.Error(err) }); err != nil {
					t.Error(err)
				}
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestWhatIsRemovedIsInNoList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	someExecutions(t, dir)
	j := open(t, dir)
	defer j.Close()
	if n, err := j.Expire(t.Context(), time.Now()); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if got := namesOf(t, j); !slices.Equal(got, []string{"arn:running"}) {
		t.Errorf("%v", got)
	}
	if _, err := j.Check(t.Context(), func(err error) { t.Error(err) }); err != nil {
		t.Error(err)
	}
}

func TestCheckComparesTheIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	someExecutions(t, dir)
	damage(t, dir, func(db *store.DB) error {
		it, err := db.NewIter(&store.IterOptions{LowerBound: []byte("i/"), UpperBound: []byte("i0")})
		if err != nil {
			return err
		}
		it.First()
		key := slices.Clone(it.Key())
		if err := it.Close(); err != nil {
			return err
		}
		if err := db.Set(append(key, '!'), nil, store.Sync); err != nil {
			return err
		}
		return db.Delete(key, store.Sync)
	})
	j := open(t, dir)
	defer j.Close()
	var problems []string
	if _, err := j.Check(t.Context(), func(err error) { problems = append(problems, err.Error()) }); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(problems, "\n")
	if !strings.Contains(all, "is not in the list of") || !strings.Contains(all, "the index has arn:") {
		t.Errorf("%s", all)
	}
}

// BenchmarkFirstPage reads the first page of many executions of a machine, alone and sixteen at once. With -short the
// journals have few executions.
func BenchmarkFirstPage(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 10_000
	}
	j := ended(b, n)
	defer j.Close()
	for name, l := range map[string]journal.List{
		"all":     {Of: "m"},
		"running": {Of: "m", Statuses: []history.Status{history.Running}},
		"failed":  {Of: "m", Statuses: []history.Status{history.Failed}},
	} {
		page := func() {
			found := 0
			for _, err := range j.Listed(b.Context(), &l) {
				if err != nil {
					b.Error(err)
				}
				if found++; found == 100 {
					break
				}
			}
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				page()
			}
		})
		b.Run(name+"/sixteen at once", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				var all sync.WaitGroup
				for range 16 {
					all.Go(page)
				}
				all.Wait()
			}
		})
	}
}

// ended returns a journal with n executions that have ended.
func ended(b *testing.B, n int) *pebble.Journal {
	b.Helper()
	j := open(b, b.TempDir())
	var done sync.WaitGroup
	slots := make(chan struct{}, 10_000)
	for i := range n {
		x := journaltest.Begun(fmt.Sprintf("arn:aws:states:us-east-1:000000000000:execution:bench:%08d", i*7919%n))
		x.Start = x.Start.Add(time.Duration(i) * time.Millisecond)
		x.Input = `{"file":"s3://incoming/users-2026-11-22.csv","rows":100000}`
		r := journaltest.Last(x, history.Succeeded)
		r.Begin, r.Step = true, 0
		slots <- struct{}{}
		done.Add(1)
		j.Commit(r, func(error) { <-slots; done.Done() })
	}
	done.Wait()
	return j
}

// BenchmarkUnusedName looks up names of executions that do not exist, as each start does, among many that exist. With
// -short there are few.
func BenchmarkUnusedName(b *testing.B) {
	n := 300_000
	if testing.Short() {
		n = 10_000
	}
	j := ended(b, n)
	defer j.Close()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		arn := fmt.Sprintf("arn:aws:states:us-east-1:000000000000:execution:bench:%08d-new", i*7919%n)
		if _, err := j.Execution(b.Context(), arn); !errors.Is(err, journal.ErrNotFound) {
			b.Fatal(err)
		}
	}
}
