package deadline_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/adaptive/deadline"
)

var noon = time.Date(2126, 11, 22, 12, 0, 0, 0, time.UTC)

func until(t *testing.T, left time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), noon.Add(left))
	t.Cleanup(cancel)
	return ctx
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		left, needed time.Duration
		want         string
	}{
		{3 * time.Second, 2 * time.Second, ""},
		{2 * time.Second, 2 * time.Second, "TimeoutError: a call that takes 2s was not started, because only 1.75s are left"},
		{250 * time.Millisecond, 0, "TimeoutError: a call that takes 0s was not started, because only 0s are left"},
		{time.Second, 0, ""},
	} {
		err := deadline.Check(until(t, c.left), noon, c.needed, deadline.Margin)
		if got := fmt.Sprint(err); err != nil && got != c.want || err == nil && c.want != "" {
			t.Errorf("%v left, %v needed: %v, want %q", c.left, c.needed, err, c.want)
		}
		var late *deadline.TooLateError
		if err != nil && !errors.As(err, &late) {
			t.Errorf("error is a %T", err)
		}
	}
	if err := deadline.Check(t.Context(), noon, time.Hour, deadline.Margin); err != nil {
		t.Errorf("without a deadline: %v", err)
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	ctx := until(t, 10*time.Second)
	for _, c := range []struct {
		wait, attempt time.Duration
		want          bool
	}{{4 * time.Second, 5 * time.Second, true}, {5 * time.Second, 5 * time.Second, false}, {0, 10 * time.Second, false},
		{1<<63 - 1, time.Second, false}} {
		if got := deadline.Retry(ctx, noon, c.wait, c.attempt, deadline.Margin); got != c.want {
			t.Errorf("waiting %v for an attempt of %v: %v, want %v", c.wait, c.attempt, got, c.want)
		}
	}
}

func TestWithinKeepsTheMargin(t *testing.T) {
	t.Parallel()
	ctx, cancel := deadline.Within(until(t, time.Minute), time.Second)
	defer cancel()
	if end, _ := ctx.Deadline(); !end.Equal(noon.Add(59 * time.Second)) {
		t.Errorf("deadline is %s, want 59 s after noon", end)
	}
}

func TestQuantilesAreAtMostANinthTooLong(t *testing.T) {
	t.Parallel()
	var known deadline.Times
	for i := range 1000 {
		known.Add(time.Duration(i+1) * time.Millisecond)
	}
	for q, least := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.95: 950 * time.Millisecond,
		1: time.Second, 0: time.Millisecond} {
		if got := known.Quantile(q); got < least || got > least+least/8 {
			t.Errorf("quantile %v is %v, want at least %v and at most an eighth more", q, got, least)
		}
	}
	var none deadline.Times
	if none.Quantile(0.95) != 0 {
		t.Error("a quantile of nothing")
	}
}

func TestOldTimesAreForgotten(t *testing.T) {
	t.Parallel()
	var known deadline.Times
	for range 1000 {
		known.Add(time.Minute)
	}
	for range 2000 {
		known.Add(time.Millisecond)
	}
	if got := known.Quantile(1); got > 2*time.Millisecond {
		t.Errorf("the longest is %v after 2,000 short calls, want about 1ms", got)
	}
}

func TestAnyTimeHasABucket(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(-1<<62, 1<<62).Draw(t, "d"))
		if rapid.Bool().Draw(t, "short") {
			d = time.Duration(rapid.Int64Range(1000, 1<<41).Draw(t, "short"))
		}
		var known deadline.Times
		known.Add(d)
		got := known.Quantile(0.95)
		if d >= time.Microsecond && d < time.Hour && (got < d || float64(got) > float64(d)*9/8+2000) {
			t.Fatalf("%v is counted as %v", d, got)
		}
	})
}

func ExampleCheck() {
	ctx, cancel := context.WithDeadline(context.Background(), noon.Add(time.Second))
	defer cancel()
	fmt.Println(deadline.Check(ctx, noon, 2*time.Second, deadline.Margin))
	// Output: TimeoutError: a call that takes 2s was not started, because only 750ms are left
}
