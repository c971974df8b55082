package dashboards_test

import (
	"encoding/json"
	"strings"
	"testing"

	"stepback/dashboards"
)

// TestGrafana checks that there is a panel for each widget that Prometheus has data for, with queries over the
// exposed names.
func TestGrafana(t *testing.T) {
	t.Parallel()
	d, err := dashboards.Monitor(dashboards.Options{StateMachine: "orders", Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := d.Grafana()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Title  string
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr, LegendFormat string }
			GridPos     struct{ X, Y, W, H int }
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range file.Panels {
		if p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s: %+v", p.Title, p.GridPos)
		}
		for _, q := range p.Targets {
			all = append(all, q.Expr)
		}
	}
	queries := strings.Join(all, "\n")
	for _, want := range []string{
		`sum(increase(stepback_task_attempts_total{state_machine="orders"}[$__rate_interval]))`,
		`stepback_retry_success_total`, `or vector(0)`, `stepback_retry_delay_seconds_`,
	} {
		if !strings.Contains(queries, want) {
			t.Errorf("lacks %s:\n%s", want, queries)
		}
	}
	if strings.Contains(queries, "FILL") || strings.Contains(queries, "AWS/") {
		t.Errorf("%s", queries)
	}
}
