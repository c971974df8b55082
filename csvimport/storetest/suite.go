// Package storetest is the test suite for implementations of csvimport.Store.
package storetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"stepback/csvimport"
	"stepback/retry"
)

// Open opens a store over an empty database.
type Open func(t *testing.T) csvimport.Store

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, csvimport.Store){
		"Apply":                    testApply,
		"Repeat":                   testRepeat,
		"Runs":                     testRuns,
		"KeyOfFileVersion":         testKeyOfFileVersion,
		"OtherValues":              testOtherValues,
		"Overflow":                 testOverflow,
		"ConcurrentRepeats":        testConcurrentRepeats,
		"ConcurrentRecordsOneUser": testConcurrentRecordsOneUser,
		"FailureIsolation":         testFailureIsolation,
		"Batch":                    testBatch,
		"BatchRepeats":             testBatchRepeats,
		"BatchRefusals":            testBatchRefusals,
		"BatchOverflow":            testBatchOverflow,
		"BatchOfManyUsersOverflow": testBatchOfManyUsersOverflow,
		"BatchesAndRows":           testBatchesAndRows,
		"BatchAndSettle":           testBatchAndSettle,
		"TwoFilesSameUsers":        testTwoFilesSameUsers,
		"Settle":                   testSettle,
		"SettleRace":               testSettleRace,
		"Export":                   testExport,
		"Cancelled":                testCancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			t.Cleanup(func() {
				if err := store.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			test(t, store)
		})
	}
}

var (
	file    = csvimport.Source{Bucket: "uploads", Key: "activity.csv", ETag: "e1"}
	run     = csvimport.Run{File: file, Name: "activity-1 2026-01-01T00:00:00.000Z"}
	another = csvimport.Run{File: file, Name: "activity-2 2026-01-02T00:00:00.000Z"}
	unnamed = csvimport.Run{File: file}
)

func apply(t *testing.T, s csvimport.Store, row int64, inc csvimport.Increment) csvimport.Outcome {
	t.Helper()
	outcome, err := s.Apply(t.Context(), run, row, inc)
	if err != nil {
		t.Fatalf("Apply(row %d, %+v): %v", row, inc, err)
	}
	return outcome
}

// Users returns the users table.
func Users(t *testing.T, s csvimport.Store) map[string][2]int64 {
	t.Helper()
	users := map[string][2]int64{}
	err := s.Export(t.Context(), func(u csvimport.User) error {
		users[u.UserID] = [2]int64{u.LoginCount, u.PostCount}
		return nil
	})
	if err != nil {
		t.Fatalf("Export: %v", err)
	}
	return users
}

func wantUser(t *testing.T, s csvimport.Store, id string, logins, posts int64) {
	t.Helper()
	if got := Users(t, s)[id]; got != [2]int64{logins, posts} {
		t.Errorf("user %s has %v, want [%d %d]", id, got, logins, posts)
	}
}

// WantName checks the name of an error.
func WantName(t *testing.T, err error, name string) {
	t.Helper()
	var f *csvimport.Failure
	if !errors.As(err, &f) || f.Name != name {
		t.Fatalf("error is %v, want %s", err, name)
	}
}

func testApply(t *testing.T, s csvimport.Store) {
	if got := apply(t, s, 0, csvimport.Increment{UserID: "利用者1", LoginCount: 3,
		PostCount: 2}); got != csvimport.Applied {
		t.Errorf("outcome is %s, want applied", got)
	}
	apply(t, s, 1, csvimport.Increment{UserID: "利用者1", LoginCount: 4})
	wantUser(t, s, "利用者1", 7, 2)
}

func testRepeat(t *testing.T, s csvimport.Store) {
	inc := csvimport.Increment{UserID: "u", LoginCount: 1, PostCount: 1}
	apply(t, s, 5, inc)
	for range 3 {
		if got := apply(t, s, 5, inc); got != csvimport.Applied {
			t.Errorf("outcome is %s, want applied, by this run", got)
		}
	}
	wantUser(t, s, "u", 1, 1)
}

// testRuns repeats records in different runs.
func testRuns(t *testing.T, s csvimport.Store) {
	inc := csvimport.Increment{UserID: "u", LoginCount: 1}
	for row, runs := range [][]struct {
		run  csvimport.Run
		want csvimport.Outcome
	}{
		{{run, csvimport.Applied}, {another, csvimport.AlreadyApplied}, {unnamed, csvimport.AlreadyApplied},
			{run, csvimport.Applied}},
		{{another, csvimport.Applied}, {run, csvimport.AlreadyApplied}, {another, csvimport.Applied}},
		{{unnamed, csvimport.Applied}, {unnamed, csvimport.AlreadyApplied}, {run, csvimport.AlreadyApplied}},
	} {
		for i, step := range runs {
			if got, err := s.Apply(t.Context(), step.run, int64(row), inc); err != nil || got != step.want {
				t.Errorf("row %d, step %d: run %q is answered %s, %v; want %s", row, i, step.run.Name, got, err,
					step.want)
			}
		}
	}
	wantUser(t, s, "u", 3, 0)
	rows := []int64{0, 1, 2, 3}
	for name, want := range map[csvimport.Run][]csvimport.Outcome{
		run:     {csvimport.Applied, csvimport.AlreadyApplied, csvimport.AlreadyApplied, csvimport.DeadLettered},
		another: {csvimport.AlreadyApplied, csvimport.Applied, csvimport.AlreadyApplied, csvimport.DeadLettered},
		unnamed: {csvimport.AlreadyApplied, csvimport.AlreadyApplied, csvimport.AlreadyApplied, csvimport.DeadLettered},
	} {
		if got, err := s.Settle(t.Context(), name, rows); err != nil || !slices.Equal(got, want) {
			t.Errorf("Settle for run %q is %v, %v; want %v", name.Name, got, err, want)
		}
	}
}

func testKeyOfFileVersion(t *testing.T, s csvimport.Store) {
	inc := csvimport.Increment{UserID: "u", LoginCount: 1}
	for _, f := range []csvimport.Source{
		file,
		{Bucket: "other", Key: file.Key, ETag: file.ETag},
		{Bucket: file.Bucket, Key: "other.csv", ETag: file.ETag},
		{Bucket: file.Bucket, Key: file.Key, ETag: "e2"},
	} {
		outcome, err := s.Apply(t.Context(), csvimport.Run{File: f, Name: run.Name}, 0, inc)
		if err != nil || outcome != csvimport.Applied {
			t.Errorf("%v: %s, %v; want applied", f, outcome, err)
		}
	}
	wantUser(t, s, "u", 4, 0)
}

func testOtherValues(t *testing.T, s csvimport.Store) {
	apply(t, s, 0, csvimport.Increment{UserID: "u", LoginCount: 1})
	_, err := s.Apply(t.Context(), run, 0, csvimport.Increment{UserID: "u", LoginCount: 2})
	WantName(t, err, retry.InvalidInput)
	wantUser(t, s, "u", 1, 0)
}

func testOverflow(t *testing.T, s csvimport.Store) {
	apply(t, s, 0, csvimport.Increment{UserID: "u", LoginCount: math.MaxInt64, PostCount: 5})
	_, err := s.Apply(t.Context(), run, 1, csvimport.Increment{UserID: "u", LoginCount: 1, PostCount: 1})
	WantName(t, err, retry.ValidationError)
	wantUser(t, s, "u", math.MaxInt64, 5)
	// The row's key was not used up: it can still be applied with an increment that fits.
	if got := apply(t, s, 1, csvimport.Increment{UserID: "u", PostCount: 1}); got != csvimport.Applied {
		t.Errorf("outcome is %s, want applied", got)
	}
	wantUser(t, s, "u", math.MaxInt64, 6)
}

func testConcurrentRepeats(t *testing.T, s csvimport.Store) {
	const callers = 16
	outcomes := make(chan csvimport.Outcome, callers)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			outcome, err := s.Apply(t.Context(), unnamed, 7, csvimport.Increment{UserID: "u", LoginCount: 1})
			if err != nil {
				t.Errorf("Apply: %v", err)
			}
			outcomes <- outcome
		})
	}
	all.Wait()
	close(outcomes)
	counts := map[csvimport.Outcome]int{}
	for o := range outcomes {
		counts[o]++
	}
	if counts[csvimport.Applied] != 1 || counts[csvimport.AlreadyApplied] != callers-1 {
		t.Errorf("outcomes are %v, want one applied and %d alreadyApplied", counts, callers-1)
	}
	wantUser(t, s, "u", 1, 0)
}

func testConcurrentRecordsOneUser(t *testing.T, s csvimport.Store) {
	const rows = 100
	var all sync.WaitGroup
	for row := range int64(rows) {
		all.Go(func() {
			if _, err := s.Apply(t.Context(), run, row, csvimport.Increment{UserID: "hot", LoginCount: 1,
				PostCount: row}); err != nil {
				t.Errorf("Apply: %v", err)
			}
		})
	}
	all.Wait()
	wantUser(t, s, "hot", rows, rows*(rows-1)/2)
}

// testFailureIsolation sends valid records together with records that are refused.
func testFailureIsolation(t *testing.T, s csvimport.Store) {
	apply(t, s, 1000, csvimport.Increment{UserID: "full", LoginCount: math.MaxInt64})
	const rows = 60
	var all sync.WaitGroup
	for row := range int64(rows) {
		all.Go(func() {
			id := "u"
			if row%3 == 0 {
				id = "full"
			}
			_, err := s.Apply(t.Context(), run, row, csvimport.Increment{UserID: id, LoginCount: 1})
			if id == "u" && err != nil {
				t.Errorf("row %d: %v", row, err)
			}
			if id == "full" {
				WantName(t, err, retry.ValidationError)
			}
		})
	}
	all.Wait()
	wantUser(t, s, "u", 40, 0)
	wantUser(t, s, "full", math.MaxInt64, 0)
}

func testSettle(t *testing.T, s csvimport.Store) {
	inc := csvimport.Increment{UserID: "u", LoginCount: 1}
	apply(t, s, 1, inc)
	for range 2 { // settling again gives the same answer
		got, err := s.Settle(t.Context(), run, []int64{2, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 || got[0] != csvimport.DeadLettered || got[1] != csvimport.Applied ||
			got[2] != csvimport.DeadLettered {
			t.Fatalf("Settle is %v, want deadLettered, applied, deadLettered", got)
		}
	}
	_, err := s.Apply(t.Context(), run, 2, inc)
	WantName(t, err, retry.RetryNotWorthwhile)
	if got := apply(t, s, 1, inc); got != csvimport.Applied {
		t.Errorf("outcome is %s, want applied", got)
	}
	wantUser(t, s, "u", 1, 0)
	if got, err := s.Settle(t.Context(), run, nil); len(got) != 0 || err != nil {
		t.Errorf("Settle of nothing is %v, %v", got, err)
	}
}

// testSettleRace runs late attempts concurrently with a settlement, and checks that the outcomes of Settle agree
// with the users table.
func testSettleRace(t *testing.T, s csvimport.Store) {
	const rows = 40
	list := make([]int64, rows)
	for i := range list {
		list[i] = int64(i)
	}
	var all sync.WaitGroup
	for _, row := range list {
		all.Go(func() {
			_, err := s.Apply(t.Context(), run, row, csvimport.Increment{UserID: "u", LoginCount: 1})
			if err != nil {
				WantName(t, err, retry.RetryNotWorthwhile)
			}
		})
	}
	settled, err := s.Settle(t.Context(), run, list)
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	var applied int64
	for _, o := range settled {
		if o == csvimport.Applied {
			applied++
		}
	}
	if got := Users(t, s)["u"][0]; got != applied {
		t.Errorf("the users table counts %d rows, Settle says %d", got, applied)
	}
}

func testExport(t *testing.T, s csvimport.Store) {
	for row, id := range []string{"b", "あ", "B", "a", "user 10", "user-1"} {
		apply(t, s, int64(row), csvimport.Increment{UserID: id, LoginCount: int64(row)})
	}
	var ids []string
	err := s.Export(t.Context(), func(u csvimport.User) error {
		ids = append(ids, u.UserID)
		return nil
	})
	want := []string{"B", "a", "b", "user 10", "user-1", "あ"} // ordered by bytes
	if err != nil || len(ids) != len(want) {
		t.Fatalf("exported %q, %v; want %q", ids, err, want)
	}
	for i := range want {
		if ids[i] != want[i] {
			t.Fatalf("exported %q, want %q", ids, want)
		}
	}
	stop := errors.New("stop")
	if err := s.Export(t.Context(), func(csvimport.User) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Export is %v, want the visitor's error", err)
	}
}

func testCancelled(t *testing.T, s csvimport.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Apply(ctx, run, 0, csvimport.Increment{UserID: "u", LoginCount: 1})
	WantName(t, err, retry.TimeoutError)
	if got := apply(t, s, 0, csvimport.Increment{UserID: "u", LoginCount: 1}); got != csvimport.Applied {
		t.Errorf("outcome is %s, want applied", got)
	}
	wantUser(t, s, "u", 1, 0)
}
