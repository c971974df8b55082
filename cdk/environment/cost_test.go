package environment_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"stepback/adaptive/cost"
	"stepback/adaptive/worth"
	"stepback/cdk/environment"
	"stepback/retrymetrics"
	"stepback/statemachine"
)

// The table in the operating guide is computed.
func TestTheGuideTellsTheComputedCosts(t *testing.T) {
	t.Parallel()
	const page = "../../docs/operating.md"
	guide, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	prices := cost.DefaultPrices(worth.Arm)
	sum := 0.0
	var rows []string
	for _, c := range environment.Prod().Costs(retrymetrics.DefaultWorkload(), prices) {
		sum += c.USD
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", c.Name, strings.TrimSpace(grouped(c.Quantity)+" "+c.Unit),
			grouped(c.USD)))
	}
	rows = append(rows, fmt.Sprintf("| **sum** | | **%s** |", grouped(sum)))
	table := strings.Join(rows, "\n")
	if !strings.Contains(string(guide), table) {
		t.Errorf("%s lacks the table\n%s", page, table)
	}
	// Figures of the table that the guide's text repeats.
	w, e := retrymetrics.DefaultWorkload(), environment.Prod()
	instances := 1 + e.Database.Readers
	for _, text := range []string{
		fmt.Sprintf("a million rows cost %.2f USD", sum/float64(w.Files)),
		fmt.Sprintf("%.0f %% of it are the transitions of the 1 %% that fails once", 100*0.02*1e6/1000*prices.Transitions/
			(sum/float64(w.Files))),
		fmt.Sprintf("%d instances × %v units × 730 hours × %v = %.0f USD", instances, e.Database.MinCapacity,
			prices.CapacityHour,
			float64(instances)*e.Database.MinCapacity*730*prices.CapacityHour),
	} {
		if !strings.Contains(strings.Join(strings.Fields(string(guide)), " "), text) { // regardless of its line breaks
			t.Errorf("%s does not say %q", page, text)
		}
	}
	if !strings.Contains(string(guide), prices.Region) || !strings.Contains(string(guide), prices.Date) {
		t.Errorf("%s does not say where and when the prices are from", page)
	}
}

// TestEachScheduleHasAPrice: a month has 730 hours. An invocation costs 0.2 USD and its trace 5 USD a million, and a
// GB-second 0.0000133334 USD.
func TestEachScheduleHasAPrice(t *testing.T) {
	t.Parallel()
	p := cost.DefaultPrices(worth.Arm)
	e := environment.Prod()
	want := map[string]string{
		"circuit":       "43800 0.2782", // 0.2278 + 43,800 × 0.05 s × 1.7275 GB
		"configuration": "8760 0.0657",  // 0.0456 + 8,760 × 0.1 s × 1.7275 GB
		"adapt":         "43800 0.3008", // 0.2278 + 43,800 × 0.5 s × 0.25 GB
		"relay":         "43800 0.2351", // 0.2278 + 43,800 × 0.05 s × 0.25 GB
		"prune":         "30 0.0004",    // 0.0002 + 30.4 × 5 s × 0.125 GB
		"train":         "30 0.0245",    // 0.0002 + 30.4 × 60 s × 1 GB
	}
	if len(e.Schedules()) != len(want) {
		t.Errorf("%d schedules, want %d", len(e.Schedules()), len(want))
	}
	for _, s := range e.Schedules() {
		if got := fmt.Sprintf("%.0f %.4f", s.Invocations(), s.USD(p)); got != want[s.Rule] {
			t.Errorf("%s costs %s, want %s", s.Rule, got, want[s.Rule])
		}
	}
	item := func(e environment.Environment) string {
		for _, c := range e.Costs(retrymetrics.DefaultWorkload(), p) {
			if c.Name == "Lambda, functions on a schedule" {
				return fmt.Sprintf("%.0f %.4f", c.Quantity, c.USD)
			}
		}
		return ""
	}
	if got := item(e); got != "140221 0.9047" {
		t.Errorf("prod's schedules cost %s", got)
	}
	e.Adapt, e.Relay.To = environment.AdaptOff, ""
	if got := item(e); got != "52590 0.3443" {
		t.Errorf("without a controller and a relay, they cost %s", got)
	}
}

// grouped formats a whole number with commas.
func grouped(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// TestTheLogLevelIsChosenByItsPrice: an environment logs everything if that costs less than a twentieth of its month,
// which holds for the shape bulk, and not for a task for each row.
func TestTheLogLevelIsChosenByItsPrice(t *testing.T) {
	t.Parallel()
	w := retrymetrics.DefaultWorkload()
	for _, e := range environment.All() {
		sum := 0.0
		for _, c := range e.Costs(w, cost.DefaultPrices(worth.Arm)) {
			sum += c.USD
		}
		all := e.LogUSD(w, retrymetrics.LevelAll)
		if e.LogLevel != "ALL" || all > sum/20 {
			t.Errorf("%s logs at level %s; everything costs %.2f of %.0f USD", e.Name, e.LogLevel, all, sum)
		}
	}
	prod := environment.Prod()
	if got := fmt.Sprintf("%.2f %.2f", prod.LogUSD(w, retrymetrics.LevelAll),
		prod.LogUSD(w, retrymetrics.LevelError)); got != "32.40 2.25" {
		t.Errorf("the levels ALL and ERROR cost %s USD", got)
	}
	prod.Shape, prod.BatchSize = statemachine.Batch, 100
	if got := prod.LogUSD(w, retrymetrics.LevelAll); got < 1000 {
		t.Errorf("logging everything about a task for each row costs only %.2f USD", got)
	}
}

func TestCostsFollowTheEnvironment(t *testing.T) {
	t.Parallel()
	total := func(change func(*environment.Environment)) float64 {
		e := environment.Prod()
		e.LogLevel = "ERROR"
		change(&e)
		sum := 0.0
		for _, c := range e.Costs(retrymetrics.DefaultWorkload(), cost.DefaultPrices(worth.Arm)) {
			sum += c.USD
		}
		return sum
	}
	base := total(func(*environment.Environment) {})
	for name, change := range map[string]func(*environment.Environment){
		"smaller batches":     func(e *environment.Environment) { e.BatchSize = 50 },
		"a task for each row": func(e *environment.Environment) { e.Shape = statemachine.Batch },
		"twice the memory":    func(e *environment.Environment) { e.ProcessMemory *= 2 },
		"another reader":      func(e *environment.Environment) { e.Database.Readers++ },
		"everything logged":   func(e *environment.Environment) { e.LogLevel = "ALL" },
	} {
		if got := total(change); got <= base {
			t.Errorf("%s costs %.0f, not more than %.0f", name, got, base)
		}
	}
}
