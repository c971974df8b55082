package contention_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"stepback/adaptive/lab/contention"
)

// article holds the results of the article's own simulator: calls, and completion in seconds if it was noted.
var article = map[int]map[string][2]float64{
	10: {"none": {51}, "exponential": {50}, "decorrelated": {38}, "equal": {42}, "full": {39}},
	50: {"none": {693}, "exponential": {618}, "decorrelated": {375}, "equal": {347}, "full": {334}},
	100: {"none": {2422, 2.03}, "exponential": {1858, 63}, "decorrelated": {1005, 4.4}, "equal": {812, 6.6},
		"full": {796, 4.9}},
	190: {"exponential": {5174, 100.8}, "decorrelated": {2438, 7.9}, "equal": {1764, 9.4}, "full": {1773, 7.6}},
}

// Cross-check 11: the article's calls within 5 %, and its ranking.
func TestTheArticlesTable(t *testing.T) {
	t.Parallel()
	for clients, rows := range article {
		results, err := contention.Compare(contention.Options{Clients: clients, Trials: 60, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]contention.Result{}
		for _, r := range results {
			got[r.Strategy] = r
			want, ok := rows[r.Strategy]
			if !ok {
				continue
			}
			if math.Abs(r.Calls.Mean/want[0]-1) > 0.05 {
				t.Errorf("%d clients, %s: %.0f calls, and the article has %.0f", clients, r.Strategy, r.Calls.Mean,
					want[0])
			}
			if want[1] > 0 && math.Abs(r.Completion.Mean/want[1]-1) > 0.15 {
				t.Errorf("%d clients, %s: done after %.2f s, and the article has %.2f s", clients, r.Strategy,
					r.Completion.Mean, want[1])
			}
		}
		if clients != 100 {
			continue
		}
		calls := func(s string) float64 { return got[s].Calls.Mean }
		done := func(s string) float64 { return got[s].Completion.Mean }
		if !(calls("full") <= calls("equal") && calls("equal") < calls("decorrelated") &&
			calls("decorrelated") < calls("exponential") &&
			calls("exponential") < calls("none")) {
			t.Errorf("the order of the calls is not the article's: %v", got)
		}
		if !(done("decorrelated") <= done("full") && done("full") < done("equal") &&
			3*done("equal") < done("exponential")) {
			t.Errorf("the order of the completions is not the article's: %v", got)
		}
	}
}

func TestBoundsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []contention.Options{
		{Clients: 0, Trials: 1}, {Clients: 1_000_000_000, Trials: 1}, {Clients: 1, Trials: 0},
		{Clients: 1, Trials: 1, Base: -time.Second},
	} {
		if _, err := contention.Compare(c); err == nil {
			t.Errorf("%+v is run", c)
		}
	}
}

func ExampleCompare() {
	results, err := contention.Compare(contention.Options{Clients: 100, Trials: 30, Seed: 1})
	if err != nil {
		panic(err)
	}
	fewest := results[0]
	for _, r := range results {
		if r.Calls.Mean < fewest.Calls.Mean {
			fewest = r
		}
	}
	fmt.Println("fewest calls:", fewest.Strategy)
	// Output: fewest calls: full
}
