package dashboards

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"stepback/retrymetrics"
	"stepback/retrymetrics/exposition"
)

// Grafana returns the dashboard as a file for import into Grafana. It has the same widgets, based on the metrics
// that serve exposes to Prometheus. It leaves out what only CloudWatch has: alarms, AWS's own metrics, and math
// with IF and DIFF.
func (d Dashboard) Grafana() ([]byte, error) {
	panels := make([]map[string]any, 0, len(d.Widgets))
	for i := range d.Widgets {
		w := &d.Widgets[i]
		panel := map[string]any{
			"id": i + 1, "title": w.Title, "gridPos": map[string]int{"x": w.X, "y": w.Y, "w": w.Width, "h": w.Height},
		}
		switch {
		case w.Text != "":
			panel["type"] = "text"
			panel["options"] = map[string]string{"mode": "markdown", "content": w.Text}
		case w.Metric != nil:
			targets := w.Metric.targets()
			if len(targets) == 0 {
				continue
			}
			panel["type"], panel["targets"] = "timeseries", targets
			if w.Metric.View == singleValue {
				panel["type"] = "stat"
			}
			panel["datasource"] = map[string]string{"type": "prometheus", "uid": "${datasource}"}
			panel["fieldConfig"] = map[string]any{"overrides": []any{}, "defaults": w.Metric.defaults()}
		default:
			continue
		}
		panels = append(panels, panel)
	}
	text, err := json.MarshalIndent(map[string]any{
		"title": d.Name, "uid": "stepback-retries", "schemaVersion": 39, "editable": true, "refresh": "30s",
		"time":   map[string]string{"from": "now-3h", "to": "now"},
		"panels": panels,
		"templating": map[string]any{"list": []any{map[string]any{
			"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source",
		}}},
	}, "", "  ")
	return append(text, '\n'), err
}

// defaults returns the unit and the limits of a panel's axis.
func (m *MetricWidget) defaults() map[string]any {
	units := map[retrymetrics.Unit]string{retrymetrics.Seconds: "s", retrymetrics.Percent: "percent"}
	all := map[string]any{"unit": "short"}
	if u := units[m.Unit]; u != "" {
		all["unit"] = u
	}
	if m.Min != nil {
		all["min"] = *m.Min
	}
	if m.Max != nil {
		all["max"] = *m.Max
	}
	custom := map[string]any{"fillOpacity": 10}
	if m.Stacked {
		custom["stacking"] = map[string]string{"mode": "normal"}
	}
	all["custom"] = custom
	return all
}

// targets returns the queries of a widget's rows.
func (m *MetricWidget) targets() []map[string]any {
	var all []map[string]any
	for i := range m.Rows {
		query, legend := m.Rows[i].promQL()
		if query == "" {
			continue
		}
		all = append(all, map[string]any{
			"refId": fmt.Sprintf("R%d", i), "expr": query, "legendFormat": legend,
			"datasource": map[string]string{"type": "prometheus", "uid": "${datasource}"},
		})
	}
	return all
}

// promQL returns the query of a row and the legend of its lines. query is empty if Prometheus does not have the
// data.
func (r *Row) promQL() (query, legend string) {
	switch {
	case r.Series != nil:
		return promSeries(r.Series.Metric, r.Series.Set, r.Series.Values, r.Stat), r.Label
	case r.Search != nil:
		labels := promLabels(r.Search.Set.Dimensions()[1:])
		query := promOf(r.Search.Metric, fmt.Sprintf("state_machine=%q", r.Search.StateMachine), r.Stat,
			" by ("+strings.Join(labels, ", ")+")")
		for i, l := range labels {
			labels[i] = "{{" + l + "}}"
		}
		return query, strings.Join(labels, " ")
	case r.Rate != nil:
		return r.Rate.promQL(), r.Label
	default:
		return "", ""
	}
}

var (
	filled     = regexp.MustCompile(`FILL\((\w+), 0\)`)
	identifier = regexp.MustCompile(`[a-z]+`)
)

// promQL returns the metric math as PromQL, or "" if it uses functions that PromQL does not have.
func (r *Rate) promQL() string {
	if strings.Contains(r.Expression, "IF(") || strings.Contains(r.Expression, "DIFF(") {
		return ""
	}
	terms := map[string]string{}
	for _, t := range r.Terms {
		if terms[t.ID] = promSeries(t.Metric, r.Set, r.Values, t.Stat); terms[t.ID] == "" {
			return ""
		}
	}
	expression := filled.ReplaceAllString(r.Expression, "$1")
	return identifier.ReplaceAllStringFunc(expression, func(id string) string {
		if q := terms[id]; q != "" {
			return "(" + q + " or vector(0))"
		}
		return id
	})
}

// labelOf maps dimensions to Prometheus label names.
var labelOf = map[retrymetrics.Dimension]string{
	retrymetrics.StateMachine: "state_machine", retrymetrics.State: "state", retrymetrics.ErrorType: "error",
}

func promLabels(dimensions []retrymetrics.Dimension) []string {
	labels := make([]string, 0, len(dimensions))
	for _, d := range dimensions {
		labels = append(labels, labelOf[d])
	}
	return labels
}

// promSeries returns the query of one series.
func promSeries(m *retrymetrics.Metric, set retrymetrics.Set, values []string, stat retrymetrics.Stat) string {
	var matchers []string
	for i, d := range set.Dimensions() {
		if labelOf[d] == "" || i >= len(values) {
			return "" // one of AWS's own metrics
		}
		matchers = append(matchers, fmt.Sprintf("%s=%q", labelOf[d], values[i]))
	}
	return promOf(m, strings.Join(matchers, ", "), stat, "")
}

// promOf returns the PromQL for a statistic of a metric.
func promOf(m *retrymetrics.Metric, matchers string, stat retrymetrics.Stat, by string) string {
	if m.Namespace() != retrymetrics.Namespace {
		return ""
	}
	name, of := exposition.NameOf(m), "{"+matchers+"}[$__rate_interval]"
	switch exposition.Kind(m) {
	case "counter":
		return fmt.Sprintf("sum%s(increase(%s_total%s))", by, name, of)
	case "gauge":
		return fmt.Sprintf("max%s(max_over_time(%s%s))", by, name, of)
	}
	quantile := map[retrymetrics.Stat]string{retrymetrics.P50: "0.5", retrymetrics.P99: "0.99", retrymetrics.Maximum: "1"}[stat]
	if quantile == "" {
		return fmt.Sprintf("sum%s(rate(%s_sum%s)) / sum%s(rate(%s_count%s))", by, name, of, by, name, of)
	}
	le := " by (le)"
	if by != "" {
		le = strings.Replace(by, "(", "(le, ", 1)
	}
	return fmt.Sprintf("histogram_quantile(%s, sum%s(rate(%s_bucket%s)))", quantile, le, name, of)
}
