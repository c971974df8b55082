package prometheusrules_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"stepback/alarms/prometheusrules"
)

var update = flag.Bool("update", false, "write docs/prometheus-objective.rules.yaml instead of comparing with it")

const file = "../../docs/prometheus-objective.rules.yaml"

// TestRulesAreCurrent: the published rules are those that the package writes.
func TestRulesAreCurrent(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := prometheusrules.Write(&b); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs from the generated rules (%v); go generate ./alarms/prometheusrules", file, err)
	}
}

// TestRules: the rules are YAML with the metrics that serve exposes, the windows and the thresholds of the alarms.
func TestRules(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := prometheusrules.Write(&b); err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Record, Alert, Expr string
				Labels              map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(b.Bytes(), &rules); err != nil || len(rules.Groups) != 1 {
		t.Fatalf("%v\n%s", err, b.String())
	}
	var lines []string
	for _, r := range rules.Groups[0].Rules {
		lines = append(lines, strings.TrimSpace(r.Record+r.Alert+" "+r.Labels["severity"]+" "+r.Expr))
	}
	got := strings.Join(lines, "\n")
	const late, good = "sum by (state_machine) (increase(stepback_batches_late_total[5m]))",
		"sum by (state_machine) (increase(stepback_batches_in_time_total[5m]))"
	for _, want := range []string{
		"stepback:batches_late:share5m  " + late + " / (" + late + " + (" + good + " or 0 * " + late + ")) and (" + late + " + (" + good +
			" or 0 * " + late + ")) >= 10",
		"StepbackBudgetFast page stepback:batches_late:share1h > 0.0672 and stepback:batches_late:share5m > 0.0672",
		"StepbackBudgetSlow page stepback:batches_late:share6h > 0.028 and stepback:batches_late:share30m > 0.028",
		"StepbackBudgetDrain message stepback:batches_late:share24h > 0.005 and stepback:batches_late:share6h > 0.005",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the rules lack\n%s\n%s", want, got)
		}
	}
	if len(lines) != 8 {
		t.Errorf("%d rules:\n%s", len(lines), got)
	}
}
