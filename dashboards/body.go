package dashboards

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"stepback/retrymetrics"
)

// Dashboard is a CloudWatch dashboard.
type Dashboard struct {
	Name, Region string
	Widgets      []Widget
}

type bodyJSON struct {
	Start          string       `json:"start"`
	PeriodOverride string       `json:"periodOverride"`
	Widgets        []widgetJSON `json:"widgets"`
}

type widgetJSON struct {
	Type       string `json:"type"`
	X          int    `json:"x"`
	Y          int    `json:"y"`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Properties any    `json:"properties"`
}

type textJSON struct {
	Markdown string `json:"markdown"`
}

type alarmsJSON struct {
	Title  string   `json:"title"`
	Alarms []string `json:"alarms"`
}

type metricJSON struct {
	Title       string           `json:"title"`
	Region      string           `json:"region"`
	View        string           `json:"view"`
	Stacked     bool             `json:"stacked"`
	Period      int              `json:"period"`
	Stat        string           `json:"stat"`
	Metrics     []any            `json:"metrics"`
	YAxis       *axesJSON        `json:"yAxis,omitempty"`
	Annotations *annotationsJSON `json:"annotations,omitempty"`
	// SetPeriodToTimeRange makes a single-value widget compute one value for the whole time range.
	SetPeriodToTimeRange bool `json:"setPeriodToTimeRange,omitempty"`
}

type axesJSON struct {
	Left axisJSON `json:"left"`
}

type axisJSON struct {
	Label     string   `json:"label,omitempty"`
	ShowUnits bool     `json:"showUnits"`
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
}

type annotationsJSON struct {
	Horizontal []Line `json:"horizontal"`
}

type rowJSON struct {
	Expression string `json:"expression,omitempty"`
	Label      string `json:"label,omitempty"`
	ID         string `json:"id,omitempty"`
	Stat       string `json:"stat,omitempty"`
	Color      string `json:"color,omitempty"`
	Visible    *bool  `json:"visible,omitempty"`
}

// Body returns the dashboard body in CloudWatch's format. The same dashboard always gives the same text. It returns
// the error of Check.
func (d Dashboard) Body() ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	body := bodyJSON{Start: "-PT3H", PeriodOverride: "auto"}
	for _, w := range d.Widgets {
		body.Widgets = append(body.Widgets, d.widget(w))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(body); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (d Dashboard) widget(w Widget) widgetJSON {
	out := widgetJSON{X: w.X, Y: w.Y, Width: w.Width, Height: w.Height}
	switch {
	case w.Metric != nil:
		out.Type, out.Properties = "metric", d.metric(w)
	case w.Alarms != nil:
		out.Type, out.Properties = "alarm", alarmsJSON{w.Title, w.Alarms}
	default:
		out.Type, out.Properties = "text", textJSON{w.Text}
	}
	return out
}

func (d Dashboard) metric(w Widget) metricJSON {
	m := w.Metric
	out := metricJSON{
		Title: w.Title, Region: d.Region, View: m.View, Stacked: m.Stacked, Period: cmp.Or(m.Period, period),
		Stat:                 string(retrymetrics.Sum),
		SetPeriodToTimeRange: m.View == singleValue,
	}
	if m.View == timeSeries {
		label := string(m.Unit)
		if m.Unit == retrymetrics.None {
			label = ""
		}
		out.YAxis = &axesJSON{axisJSON{Label: label, Min: m.Min, Max: m.Max}}
	}
	if len(m.Lines) > 0 {
		out.Annotations = &annotationsJSON{m.Lines}
	}
	for i, r := range m.Rows {
		out.Metrics = append(out.Metrics, r.json(i)...)
	}
	return out
}

// json returns the metrics of a row. A rate consists of its terms, which are hidden, and its expression.
func (r Row) json(index int) []any {
	switch {
	case r.Series != nil:
		return []any{seriesJSON(*r.Series, rowJSON{Label: r.Label, Stat: string(r.Stat), Color: r.Color})}
	case r.Rate != nil:
		return r.Rate.json(index, r)
	default:
		return []any{[]any{rowJSON{Expression: r.Search.Expression(r.Stat), Label: r.Label, ID: fmt.Sprintf("search%d",
			index)}}}
	}
}

func (r *Rate) json(index int, row Row) []any {
	unseen := false
	var rows []any
	for i, s := range row.series() {
		t := r.Terms[i]
		rows = append(rows, seriesJSON(s, rowJSON{ID: t.ID, Stat: string(t.Stat), Visible: &unseen}))
	}
	return append(rows, []any{rowJSON{Expression: r.Expression, Label: row.Label, ID: fmt.Sprintf("rate%d", index),
		Color: row.Color}})
}

func seriesJSON(s retrymetrics.Series, options rowJSON) []any {
	row := []any{retrymetrics.Namespace, s.Metric.Name()}
	for i, d := range s.Set.Dimensions() {
		row = append(row, string(d), s.Values[i])
	}
	return append(row, options)
}
