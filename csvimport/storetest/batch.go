package storetest

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"stepback/csvimport"
	"stepback/retry"
)

// rowsOf returns the rows with the numbers from, from+1 … to-1. Each row adds 1 login, and as many posts as its
// number, to one of ten users.
func rowsOf(from, to int64) []csvimport.Row {
	var rows []csvimport.Row
	for n := from; n < to; n++ {
		rows = append(rows, csvimport.Row{Number: n,
			Increment: csvimport.Increment{UserID: fmt.Sprintf("u%d", n%10), LoginCount: 1, PostCount: n}})
	}
	return rows
}

// batch applies a batch and checks its outcomes. want has one outcome for each row, or one for all.
func batch(t *testing.T, s csvimport.Store, by csvimport.Run, rows []csvimport.Row, want ...csvimport.Outcome) {
	t.Helper()
	got, err := s.ApplyBatch(t.Context(), by, rows)
	if err != nil || len(got) != len(rows) {
		t.Fatalf("a batch of %d rows: %d answers, %v", len(rows), len(got), err)
	}
	for i, a := range got {
		w := want[min(i, len(want)-1)]
		if a.Err != nil || a.Outcome != w {
			t.Fatalf("row %d is answered %q, %v; want %s", rows[i].Number, a.Outcome, a.Err, w)
		}
	}
}

// sums checks that the users' counts are the sums of the rows 0 … to-1 of rowsOf.
func sums(t *testing.T, s csvimport.Store, to int64) {
	t.Helper()
	want := map[string][2]int64{}
	for _, r := range rowsOf(0, to) {
		u := want[r.Increment.UserID]
		want[r.Increment.UserID] = [2]int64{u[0] + 1, u[1] + r.Increment.PostCount}
	}
	got := Users(t, s)
	for user, w := range want {
		if got[user] != w {
			t.Errorf("user %s has %v, want %v", user, got[user], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d users, want %d", len(got), len(want))
	}
}

func testBatch(t *testing.T, s csvimport.Store) {
	for from := int64(0); from < 1000; from += 100 { // batches that start and end within blocks
		batch(t, s, run, rowsOf(from, from+100), csvimport.Applied)
	}
	sums(t, s, 1000)
	if got, err := s.ApplyBatch(t.Context(), run, nil); len(got) != 0 || err != nil {
		t.Errorf("a batch of nothing is %v, %v", got, err)
	}
}

// testBatchRepeats repeats batches, in this run and in others, whole and overlapping.
func testBatchRepeats(t *testing.T, s csvimport.Store) {
	rows := rowsOf(0, 200)
	batch(t, s, run, rows, csvimport.Applied)
	batch(t, s, run, rows, csvimport.Applied)
	batch(t, s, another, rows, csvimport.AlreadyApplied)
	batch(t, s, unnamed, rows[:50], csvimport.AlreadyApplied)
	overlapping := rowsOf(150, 300)
	want := make([]csvimport.Outcome, len(overlapping))
	for i := range want {
		want[i] = csvimport.AlreadyApplied
		if i >= 50 {
			want[i] = csvimport.Applied
		}
	}
	batch(t, s, another, overlapping, want...)
	batch(t, s, unnamed, append(rowsOf(300, 310), rowsOf(300, 310)...), append(make10(csvimport.Applied),
		csvimport.AlreadyApplied)...)
	sums(t, s, 310)
	for _, row := range []int64{0, 199} {
		if got := apply(t, s, row, rows[row].Increment); got != csvimport.Applied {
			t.Errorf("row %d by itself: %s, want applied", row, got)
		}
	}
	sums(t, s, 310)
}

func make10(o csvimport.Outcome) []csvimport.Outcome {
	ten := make([]csvimport.Outcome, 10)
	for i := range ten {
		ten[i] = o
	}
	return ten
}

// testBatchRefusals applies a batch in which some rows are refused permanently, and checks that the others are
// counted.
func testBatchRefusals(t *testing.T, s csvimport.Store) {
	rows := rowsOf(0, 100)
	apply(t, s, 3, csvimport.Increment{UserID: "u3", LoginCount: 1, PostCount: 3})
	apply(t, s, 4, csvimport.Increment{UserID: "other", LoginCount: 77})
	if _, err := s.Settle(t.Context(), run, []int64{5}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := s.ApplyBatch(t.Context(), run, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range got {
			switch i {
			case 4:
				WantName(t, a.Err, retry.InvalidInput)
			case 5:
				WantName(t, a.Err, retry.RetryNotWorthwhile)
			default:
				if a.Err != nil || a.Outcome != csvimport.Applied {
					t.Errorf("row %d is answered %q, %v", i, a.Outcome, a.Err)
				}
			}
		}
	}
	wantUser(t, s, "u3", 10, 3+13+23+33+43+53+63+73+83+93)
	wantUser(t, s, "u4", 9, 14+24+34+44+54+64+74+84+94)
	wantUser(t, s, "u5", 9, 15+25+35+45+55+65+75+85+95)
	wantUser(t, s, "other", 77, 0)
}

// testBatchOverflow applies a batch whose rows together overflow a counter, and checks that the rows that still
// fit, taken in order, are counted.
func testBatchOverflow(t *testing.T, s csvimport.Store) {
	apply(t, s, 1000, csvimport.Increment{UserID: "full", LoginCount: math.MaxInt64 - 5})
	rows := []csvimport.Row{
		{Number: 0, Increment: csvimport.Increment{UserID: "u", LoginCount: 1}},
		{Number: 1, Increment: csvimport.Increment{UserID: "full", LoginCount: 3}},
		{Number: 2, Increment: csvimport.Increment{UserID: "full", LoginCount: math.MaxInt64}},
		{Number: 3, Increment: csvimport.Increment{UserID: "full", LoginCount: 2, PostCount: 1}},
		{Number: 4, Increment: csvimport.Increment{UserID: "full", LoginCount: 1}},
		{Number: 5, Increment: csvimport.Increment{UserID: "u", LoginCount: 1}},
	}
	for range 2 {
		got, err := s.ApplyBatch(t.Context(), run, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range got {
			if i == 2 || i == 4 {
				WantName(t, a.Err, retry.ValidationError)
			} else if a.Err != nil || a.Outcome != csvimport.Applied {
				t.Errorf("row %d is answered %q, %v", i, a.Outcome, a.Err)
			}
		}
	}
	wantUser(t, s, "full", math.MaxInt64, 1)
	wantUser(t, s, "u", 2, 0)
}

// testBatchOfManyUsersOverflow applies a batch of 100 users, two of whose counters are almost full, and checks that
// only their rows are refused.
func testBatchOfManyUsersOverflow(t *testing.T, s csvimport.Store) {
	apply(t, s, 1000, csvimport.Increment{UserID: "user-007", LoginCount: math.MaxInt64})
	apply(t, s, 1001, csvimport.Increment{UserID: "user-099", PostCount: math.MaxInt64 - 1})
	rows := make([]csvimport.Row, 100)
	for i := range rows {
		rows[i] = csvimport.Row{Number: int64(i),
			Increment: csvimport.Increment{UserID: fmt.Sprintf("user-%03d", i), LoginCount: 1, PostCount: 2}}
	}
	for range 2 {
		got, err := s.ApplyBatch(t.Context(), run, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range got {
			if i == 7 || i == 99 {
				WantName(t, a.Err, retry.ValidationError)
			} else if a.Err != nil || a.Outcome != csvimport.Applied {
				t.Errorf("row %d is answered %q, %v", i, a.Outcome, a.Err)
			}
		}
	}
	wantUser(t, s, "user-006", 1, 2)
	wantUser(t, s, "user-007", math.MaxInt64, 0)
	wantUser(t, s, "user-098", 1, 2)
	wantUser(t, s, "user-099", 0, math.MaxInt64-1)
}

// testBatchesAndRows applies every row several times concurrently, in overlapping batches and one by one.
func testBatchesAndRows(t *testing.T, s csvimport.Store) {
	const rows = 400
	var all sync.WaitGroup
	for _, step := range []int64{100, 70, 33} {
		for from := int64(0); from < rows; from += step {
			all.Go(func() {
				answers, err := s.ApplyBatch(t.Context(), run, rowsOf(from, min(from+step, rows)))
				if err != nil {
					t.Errorf("batch from row %d: %v", from, err)
				}
				for _, a := range answers {
					if a.Err != nil || a.Outcome != csvimport.Applied {
						t.Errorf("batch from row %d: %+v", from, a)
					}
				}
			})
		}
	}
	for _, r := range rowsOf(0, rows) {
		if r.Number%7 == 0 {
			all.Go(func() {
				got, err := s.Apply(t.Context(), run, r.Number, r.Increment)
				if err != nil || got != csvimport.Applied {
					t.Errorf("row %d: %s, %v", r.Number, got, err)
				}
			})
		}
	}
	all.Wait()
	sums(t, s, rows)
}

// testBatchAndSettle runs late batches concurrently with a settlement.
func testBatchAndSettle(t *testing.T, s csvimport.Store) {
	const rows = 200
	var all sync.WaitGroup
	for from := int64(0); from < rows; from += 20 {
		all.Go(func() {
			answers, err := s.ApplyBatch(t.Context(), run, rowsOf(from, from+20))
			if err != nil {
				t.Errorf("batch from row %d: %v", from, err)
			}
			for _, a := range answers {
				if a.Err != nil {
					WantName(t, a.Err, retry.RetryNotWorthwhile)
				}
			}
		})
	}
	numbers := make([]int64, rows)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	settled, err := s.Settle(t.Context(), run, numbers)
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	for i, outcome := range settled {
		if outcome == csvimport.Applied {
			want[fmt.Sprintf("u%d", i%10)]++
		}
	}
	got := Users(t, s)
	for user, n := range want {
		if got[user][0] != n {
			t.Errorf("user %s counts %d rows, Settle says %d", user, got[user][0], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d users have rows, Settle says %d", len(got), len(want))
	}
	again, err := s.Settle(t.Context(), run, numbers)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(settled) {
		t.Errorf("settled again: %v; %v", again, err)
	}
}

// testTwoFilesSameUsers applies two files with the same users concurrently, in batches with opposite orders.
func testTwoFilesSameUsers(t *testing.T, s csvimport.Store) {
	const rows = 300
	var all sync.WaitGroup
	for name, reverse := range map[string]bool{"a.csv": false, "b.csv": true} {
		by := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: name, ETag: "e"}, Name: "r"}
		for from := int64(0); from < rows; from += 50 {
			batch := rowsOf(from, from+50)
			if reverse {
				for i := range batch {
					batch[i].Increment.UserID = fmt.Sprintf("u%d", 9-batch[i].Number%10)
				}
			}
			all.Go(func() {
				if _, err := s.ApplyBatch(t.Context(), by, batch); err != nil {
					t.Errorf("%s from row %d: %v", name, from, err)
				}
			})
		}
	}
	all.Wait()
	var logins int64
	for _, u := range Users(t, s) {
		logins += u[0]
	}
	if logins != 2*rows {
		t.Errorf("%d rows are counted, want %d", logins, 2*rows)
	}
}
