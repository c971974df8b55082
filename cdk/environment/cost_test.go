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
