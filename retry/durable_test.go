package retry_test

import (
	"slices"
	"testing"
	"time"

	"stepback/retry"
)

// least draws the lower end of every range.
type least struct{}

func (least) Uint64() uint64 { return 0 }

func TestDurableDelays(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		attempts             int
		least, half, longest []int // seconds
	}{
		"default":               {6, []int{1, 1, 1, 1, 1}, []int{3, 5, 10, 20, 30}, []int{5, 10, 20, 40, 60}},
		"none":                  {1, nil, nil, nil},
		"transient":             {3, []int{3, 5}, []int{4, 8}, []int{5, 10}},
		"resource-availability": {5, []int{1, 1, 1, 1}, []int{3, 5, 10, 20}, []int{5, 10, 20, 40}},
		"critical":              {10, []int{1, 2, 3, 4, 6}, []int{1, 2, 3, 4, 6}, []int{1, 2, 3, 4, 6}},
		"linear":                {6, []int{1, 2, 3, 4, 5}, []int{1, 2, 3, 4, 5}, []int{1, 2, 3, 4, 5}},
		"fixed":                 {5, []int{5, 5, 5, 5}, []int{5, 5, 5, 5}, []int{5, 5, 5, 5}},
		"exponential":           {3, []int{1, 1}, []int{3, 5}, []int{5, 10}},
		"linear-helper":         {6, []int{1, 1, 1, 1, 1}, []int{1, 1, 2, 2, 3}, []int{1, 2, 3, 4, 5}},
	} {
		d, ok := retry.DurablePreset(name)
		if !ok || d.MaxAttempts != want.attempts {
			t.Errorf("%s: %+v, %v", name, d, ok)
		}
		for what, c := range map[string]struct {
			rnd  retry.Rand
			want []int
		}{"least": {least{}, want.least}, "half": {half{}, want.half}, "longest": {nil, want.longest}} {
			var got []int
			for n := range c.want {
				got = append(got, int(d.Delay(n+1, c.rnd)/time.Second))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: %v, want %v", name, what, got, c.want)
			}
		}
	}
	if d, _ := retry.DurablePreset("default"); d.Delay(1000, nil) != time.Minute {
		t.Error("the longest delay is exceeded")
	}
	if _, ok := retry.DurablePreset("other"); ok || len(retry.DurablePresets()) != 9 {
		t.Error(retry.DurablePresets())
	}
}
