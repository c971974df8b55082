package cost_test

import (
	"math"
	"testing"
	"time"

	"stepback/adaptive/cost"
	"stepback/engine/durable"
)

// A million executions with 5 operations, one of them a retry, 1,000 bytes written and kept for 30 days, and three
// invocations with two seconds together.
func TestDurableItems(t *testing.T) {
	t.Parallel()
	u := durable.Usage{Operations: 5, Retries: 1, Written: 1000, Invocations: 3, Compute: 2 * time.Second}
	items := cost.DurableItems(u, 1e6, 512, 30, cost.DefaultPrices(""))
	want := []float64{32, 8, 0.25, 0.15, 0.60, 16.6667}
	for i, w := range want {
		if math.Abs(items[i].USD-w) > 1e-9 {
			t.Errorf("%s: %v USD, want %v", items[i].Name, items[i].USD, w)
		}
	}
	if len(items) != len(want) || math.Abs(cost.Total(items)-57.6667) > 1e-9 {
		t.Errorf("%v", items)
	}
}
