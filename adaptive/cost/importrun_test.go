package cost_test

import (
	"math"
	"testing"

	"stepback/adaptive/cost"
	"stepback/adaptive/worth"
	"stepback/statemachine"
)

func million(shape statemachine.Shape, batch int) cost.Import {
	return cost.Import{Files: 1, Rows: 1_000_000, Shape: shape, BatchSize: batch, MemoryMB: 512, Capacity: 32,
		KeptDays: 30}
}

// TestManyFilesAsOne: one import of 1,000 files enters 8 states, and 5 more for each file; it lists the files once and
// adds them up once.
func TestManyFilesAsOne(t *testing.T) {
	t.Parallel()
	apart := million(statemachine.Bulk, 250)
	apart.Files = 1000
	one := apart
	one.AsOne = true
	a, b := apart.Usage(), one.Usage()
	if got := b.Transitions - a.Transitions; got != 5008 {
		t.Errorf("%v more transitions", got)
	}
	// 2 × (1 s + 1,000 × 1 ms) × 1 GB
	if got := b.GBSeconds - a.GBSeconds; math.Abs(got-4) > 1e-9 || b.Invocations != a.Invocations+2 {
		t.Errorf("%v more GB-seconds, %v more invocations", got, b.Invocations-a.Invocations)
	}
	p := cost.DefaultPrices(worth.Arm)
	// 5,008 transitions, 4 GB-seconds, 2 invocations and the traces of a tenth of one
	if got := cost.Total(one.Items(p)) - cost.Total(apart.Items(p)); math.Abs(got-0.1252542336) > 1e-9 {
		t.Errorf("it costs %v USD", got)
	}
}

func item(t *testing.T, items []cost.Item, name string) cost.Item {
	t.Helper()
	for _, i := range items {
		if i.Name == name {
			return i
		}
	}
	t.Fatalf("there is no item %q", name)
	return cost.Item{}
}

// The costs of a million rows equal a calculation by hand.
func TestAMillionRows(t *testing.T) {
	t.Parallel()
	p := cost.DefaultPrices(worth.Arm)
	for _, test := range []struct {
		name         string
		run          cost.Import
		transitions  float64 // USD
		invocations  float64
		least, total float64 // USD of everything
	}{
		// 1,000,000 × (start + state) + 10 = 2,000,010 transitions
		{"single", million(statemachine.Single, 1), 50.00025, 1_000_000, 50, 52},
		// 10,000 × (start + Map) + 1,000,000 + 10
		{"batch", million(statemachine.Batch, 100), 25.50025, 1_000_000, 26, 27.5},
		// 4,000 × (start + ApplyBatch + Map) + 10
		{"bulk", million(statemachine.Bulk, 250), 0.30025, 4_000, 0.3, 1},
	} {
		items := test.run.Items(p)
		if got := item(t, items, "Step Functions, transitions").USD; math.Abs(got-test.transitions) > 1e-9 {
			t.Errorf("%s: transitions cost %v, want %v", test.name, got, test.transitions)
		}
		if got := item(t, items, "Lambda, invocations").Quantity; got != test.invocations {
			t.Errorf("%s: %v invocations, want %v", test.name, got, test.invocations)
		}
		if got := cost.Total(items); got < test.least || got > test.total {
			t.Errorf("%s costs %v, want %v to %v", test.name, got, test.least, test.total)
		}
	}
}

// The costs of a bulk import equal the calculation in docs/operating.md.
func TestBulkByHand(t *testing.T) {
	t.Parallel()
	items := million(statemachine.Bulk, 250).Items(cost.DefaultPrices(worth.Arm))
	for name, want := range map[string]struct{ quantity, usd float64 }{
		"Step Functions, transitions": {12_010, 0.30025},
		"Lambda, invocations":         {4_000, 0.0008},
		"Lambda, compute":             {120, 0.0016},
		"Aurora, capacity meanwhile":  {0.8889, 0.10667},
		"Aurora, writes":              {52_829, 0.010566},
		"X-Ray, traces":               {200, 0.0010},
		"S3, result files":            {0.001, 0.000023},
	} {
		got := item(t, items, name)
		if math.Abs(got.Quantity-want.quantity) > 0.001 || math.Abs(got.USD-want.usd) > 1e-5 {
			t.Errorf("%s: %v for %v USD, by hand %v for %v", name, got.Quantity, got.USD, want.quantity, want.usd)
		}
	}
	if total := cost.Total(items); math.Abs(total-0.4209) > 0.0001 {
		t.Errorf("a million rows cost %v, by hand 0.4209", total)
	}
}

// TestRetriesAddWhatTheyAre: each of 10,000 rows that fails in its batch adds two invocations and two transitions.
func TestRetriesAddWhatTheyAre(t *testing.T) {
	t.Parallel()
	p := cost.DefaultPrices(worth.Arm)
	clean, failing := million(statemachine.Bulk, 250), million(statemachine.Bulk, 250)
	failing.FailingRows, failing.Retries = 0.01, 1
	a, b := clean.Usage(), failing.Usage()
	if b.Transitions-a.Transitions != 20_000 || b.Invocations-a.Invocations != 20_000 {
		t.Errorf("%v transitions and %v invocations more", b.Transitions-a.Transitions, b.Invocations-a.Invocations)
	}
	if total := cost.Total(failing.Items(p)); total > 1.5 {
		t.Errorf("with 1 %% of the rows retried a million cost %v USD", total)
	}
}

// TestRefusedInvocationsAreFree: Lambda refuses one in ten of 4,000 batches, repeatedly, up to twenty times.
func TestRefusedInvocationsAreFree(t *testing.T) {
	t.Parallel()
	clean, refused := million(statemachine.Bulk, 250), million(statemachine.Bulk, 250)
	refused.FailingBatches, refused.RefusedBatches = 0.1/0.9, 0.1/0.9
	a, b := clean.Usage(), refused.Usage()
	if more := b.Transitions - a.Transitions; math.Abs(more-444.4) > 0.1 || b.Invocations != a.Invocations ||
		b.GBSeconds != a.GBSeconds || b.Writes != a.Writes {
		t.Errorf("%v transitions more, and %+v instead of %+v", more, b, a)
	}
}

func TestExpressChildren(t *testing.T) {
	t.Parallel()
	run := million(statemachine.Bulk, 250)
	run.Express = true
	items := run.Items(cost.DefaultPrices(worth.Arm))
	if got := item(t, items, "Step Functions, transitions").Quantity; got != 10 {
		t.Errorf("%v transitions, want those of the parent", got)
	}
	if got := item(t, items, "Step Functions, EXPRESS executions").USD; got != 0.004 {
		t.Errorf("4,000 EXPRESS executions cost %v, want 0.004", got)
	}
}
