package sorting_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"stepback/internal/sorting"
)

type retrier struct {
	errorName string
	attempts  int
}

func byAttempts(a, b retrier) int { return cmp.Compare(a.attempts, b.attempts) }

func TestStableKeepsTheOrderOfEquals(t *testing.T) {
	t.Parallel()
	xs := []retrier{{"c", 2}, {"b", 1}, {"a", 2}, {"d", 1}}
	sorting.Stable(xs, byAttempts)
	if want := []retrier{{"b", 1}, {"d", 1}, {"c", 2}, {"a", 2}}; !slices.Equal(xs, want) {
		t.Errorf("%v, want %v", xs, want)
	}
}

func TestFuncSortsAsSlicesDoes(t *testing.T) {
	t.Parallel()
	same := func(xs []string) bool {
		want := slices.Clone(xs)
		slices.Sort(want)
		sorting.Func(xs, strings.Compare)
		return slices.Equal(xs, want)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	got := sorting.Collect(maps.Keys(map[string]int{"States.Timeout": 1, "States.ALL": 2}), strings.Compare)
	if want := []string{"States.ALL", "States.Timeout"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
