package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"stepback/retrymetrics/metricmath"
)

// The types of widgets that are drawn, and the views of metric and log widgets.
const (
	typeMetric = "metric"
	typeText   = "text"
	typeAlarm  = "alarm"
	typeLog    = "log"

	viewTimeSeries  = "timeSeries"
	viewSingleValue = "singleValue"
	viewGauge       = "gauge"
	viewBar         = "bar"
	viewPie         = "pie"
	viewTable       = "table"
)

// Widget is a widget with its data.
type Widget struct {
	Type   string `json:"type"`
	View   string `json:"view,omitempty"`
	Title  string `json:"title,omitempty"`
	X      int    `json:"x"`
	Y      int    `json:"y"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	// Problem is the reason why the widget is not drawn; empty if it is drawn.
	Problem string `json:"problem,omitempty"`
	// Notes name the parts that are not drawn, such as one of several rows.
	Notes  []string `json:"notes,omitempty"`
	Lines  []Line   `json:"lines,omitempty"`
	Alarms []Alarm  `json:"alarms,omitempty"`
	Table  *Table   `json:"table,omitempty"`
	// Text is the Markdown of a text widget.
	Text string `json:"text,omitempty"`

	properties properties
	marks      []mark // horizontal lines that the widget's alarms add
}

// Line is a line of a chart, or one of the numbers, bars or slices of another view.
type Line struct {
	Series
	Color string `json:"color"`
	// Period is the length of the periods that start at Times.
	Period time.Duration `json:"periodNanoseconds"`
	// Right is true if the line belongs to the right axis.
	Right bool `json:"right,omitempty"`
}

// Last returns the latest value; NaN if there is none.
func (l *Line) Last() float64 {
	if len(l.Values) == 0 {
		return math.NaN()
	}
	return l.Values[len(l.Values)-1]
}

// Empty reports whether the widget shows metrics or logs and has no data.
func (w *Widget) Empty() bool {
	switch {
	case w.Problem != "":
		return false
	case w.Type == typeMetric:
		return !slices.ContainsFunc(w.Lines, func(l Line) bool { return len(l.Values) > 0 })
	case w.Type == typeLog:
		return w.Table == nil || len(w.Table.Rows) == 0
	}
	return false
}

// palette is CloudWatch's order of colors.
var palette = []string{"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f",
	"#bcbd22", "#17becf"}

// atOnce is the number of widgets whose data are fetched at the same time.
const atOnce = 6

// Load parses a dashboard body and fetches the data of its widgets. If the data of a widget cannot be fetched, its
// Problem says why, and the others are loaded. The error is that of the body or of the context.
func Load(ctx context.Context, name string, text []byte, s Source, w Window) (Page, error) {
	b, all, err := parse(text)
	if err != nil {
		return Page{}, err
	}
	l := loader{s, w, mostPeriods}
	if b.PeriodOverride == "inherit" {
		l.most = mostOwnedPeriods
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range all {
		group.Go(func() error {
			if err := l.load(ctx, &all[i]); err != nil {
				all[i].Problem = err.Error()
			}
			return ctx.Err()
		})
	}
	return Page{Name: name, Window: w, Widgets: all}, group.Wait()
}

type loader struct {
	source Source
	window Window
	most   int // the most periods of a line
}

func (l *loader) load(ctx context.Context, w *Widget) (err error) {
	p := &w.properties
	switch {
	case w.Problem != "":
	case w.Type == typeText:
		w.Text = p.Markdown
	case w.Type == typeAlarm:
		w.Alarms, err = l.source.Alarms(ctx, p.Alarms)
		w.Alarms = chosen(w.Alarms, p.States)
		if p.SortBy == "stateUpdatedTimestamp" || p.SortBy == "timestamp" {
			slices.SortStableFunc(w.Alarms, func(a, b Alarm) int { return b.Since.Compare(a.Since) })
		} else {
			sortAlarms(w.Alarms)
		}
	case w.Type == typeLog:
		err = l.logs(ctx, w)
	case w.Type == typeMetric:
		err = l.metrics(ctx, w)
	case w.Type == "custom":
		err = errors.New(strings.TrimSuffix("a custom widget shows what a Lambda function writes, "+p.Endpoint, ", "))
	default:
		err = fmt.Errorf("widgets of type %q are not supported", w.Type)
	}
	return err
}

// chosen returns the alarms in one of the given states; all of them if states is empty.
func chosen(all []Alarm, states []string) []Alarm {
	if len(states) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(a Alarm) bool { return a.State != Missing && !slices.Contains(states, a.State) })
}

// sortAlarms sorts alarms that fired to the front, followed by those without data.
func sortAlarms(all []Alarm) {
	rank := func(a Alarm) int {
		switch {
		case a.Tripped:
			return 0
		case a.State != OK:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b Alarm) int { return cmp.Compare(rank(a), rank(b)) })
}

// single reports whether a widget's view shows one value for each row.
func (w *Widget) single() bool {
	return w.View == viewSingleValue || w.View == viewGauge || w.View == viewBar || w.View == viewPie
}

func (l *loader) metrics(ctx context.Context, w *Widget) error {
	p := &w.properties
	rows, err := p.rows()
	if err != nil {
		return err
	}
	queries := l.queries(w, rows)
	if len(p.Annotations.Alarms) > 0 {
		watched, err := l.watched(ctx, w, queries)
		if err != nil {
			return err
		}
		queries = append(queries, watched...)
	}
	if len(queries) == 0 {
		return errors.New("the widget has no metrics")
	}
	from := l.window.From
	if !w.whole() {
		from = from.Truncate(shortest(queries))
	}
	found, err := l.source.Metrics(ctx, from, l.window.To, queries)
	if err != nil {
		return err
	}
	for i := range found {
		s := &found[i]
		if s.Problem != "" {
			w.Notes = append(w.Notes, s.Label+": "+s.Problem)
			continue
		}
		line := Line{Series: *s}
		if at := slices.IndexFunc(queries, func(q Query) bool { return q.ID == s.ID }); at >= 0 {
			line.Period = queries[at].Period
			if at < len(rows) {
				line.Right, line.Color = rows[at].YAxis == "right", rows[at].Color
			}
		}
		line.Color = cmp.Or(line.Color, palette[len(w.Lines)%len(palette)])
		w.Lines = append(w.Lines, line)
	}
	if len(w.Lines) == 0 && len(w.Notes) > 0 {
		return errors.New(strings.Join(w.Notes, "; "))
	}
	w.distinguish(queries)
	return nil
}

// distinguish relabels lines of different metrics that have the same label: with the values of the dimensions, and the
// names, in which the metrics differ.
func (w *Widget) distinguish(queries []Query) {
	var lines []int
	var metrics []metricmath.Metric
	for i := range w.Lines {
		at := slices.IndexFunc(queries, func(q Query) bool { return q.ID == w.Lines[i].ID && q.Metric != nil && q.Label == "" })
		if at >= 0 && slices.ContainsFunc(w.Lines, func(l Line) bool {
			return l.ID != w.Lines[i].ID &&
				l.Label == w.Lines[i].Label
		}) {
			lines, metrics = append(lines, i), append(metrics, *queries[at].Metric)
		}
	}
	if len(metrics) < 2 {
		return
	}
	for i, label := range new(metricmath.Search).Labels(metrics) {
		if l := &w.Lines[lines[i]]; label != l.Label {
			l.Label = strings.TrimSpace(l.Label + " " + strings.TrimPrefix(label, l.Label))
		}
	}
}

// whole reports whether each row has a single value, for the whole range.
func (w *Widget) whole() bool { return w.properties.SetPeriodToTimeRange && w.single() }

func shortest(queries []Query) time.Duration {
	return slices.MinFunc(queries, func(a, b Query) int { return cmp.Compare(a.Period, b.Period) }).Period
}

// usualPeriod is the period of rows and widgets that give none, in seconds.
const usualPeriod = 300

// queries returns the queries of a widget's rows, one for each row.
func (l *loader) queries(w *Widget, rows []row) []Query {
	p := &w.properties
	taken := map[string]bool{}
	for i := range rows {
		taken[rows[i].ID] = true
	}
	queries := make([]Query, len(rows))
	for i := range rows {
		r := &rows[i]
		own := time.Duration(cmp.Or(r.Period, p.Period, usualPeriod) * float64(time.Second))
		q := Query{ID: r.ID, Expression: r.Expression, Label: r.Label, Period: l.window.periodOf(max(own, time.Second),
			l.most),
			Hidden: r.Visible != nil && !*r.Visible, Account: cmp.Or(r.AccountID, p.AccountID), Region: cmp.Or(r.Region,
				p.Region)}
		if w.whole() {
			q.Period = l.window.whole()
		}
		if r.Expression == "" {
			q.Metric, q.Stat = &r.metric, cmp.Or(r.Stat, p.Stat, "Average")
		}
		for n := i; q.ID == ""; n++ {
			if id := "row" + strconv.Itoa(n); !taken[id] {
				q.ID, taken[id] = id, true
			}
		}
		queries[i] = q
	}
	return queries
}

// watched returns the queries of the alarms that annotate a widget, if they are not among the widget's rows, and adds
// their thresholds as marks.
func (l *loader) watched(ctx context.Context, w *Widget, rows []Query) ([]Query, error) {
	all, err := l.source.Alarms(ctx, w.properties.Annotations.Alarms)
	if err != nil {
		return nil, err
	}
	w.Alarms = all
	var out []Query
	for i, a := range all {
		if a.State == Missing {
			w.Notes = append(w.Notes, "there is no alarm "+a.Name)
			continue
		}
		w.Title = cmp.Or(w.Title, a.Name)
		if a.Threshold != nil {
			w.marks = append(w.marks, mark{Label: a.Name, Value: *a.Threshold, Color: alarmColor})
		}
		if len(rows) > 0 {
			continue
		}
		for _, q := range a.Watched {
			q.ID = fmt.Sprintf("%s_alarm%d", q.ID, i)
			q.Expression = renamed(q.Expression, a.Watched, i)
			q.Period = l.window.periodOf(q.Period, l.most)
			out = append(out, q)
		}
	}
	return out, nil
}

var identifier = regexp.MustCompile(`[a-z][a-zA-Z0-9_]*`)

// renamed replaces the IDs of an alarm's queries in an expression by those that are unique in the widget.
func renamed(expression string, of []Query, alarm int) string {
	return identifier.ReplaceAllStringFunc(expression, func(id string) string {
		if slices.ContainsFunc(of, func(q Query) bool { return q.ID == id }) {
			return fmt.Sprintf("%s_alarm%d", id, alarm)
		}
		return id
	})
}

// sourced matches the commands at the beginning of a log widget's query that name its log groups.
var sourced = regexp.MustCompile(`^\s*SOURCE\s+(?:'([^']*)'|"([^"]*)")((?:\s*,\s*'[^']*')*)\s*\|?\s*`)

// selecting matches the command of a query that selects its log groups by their names, which StartQuery evaluates.
var selecting = regexp.MustCompile(`(?i)^\s*SOURCE\s+logGroups\s*\(`)

// Watched returns the queries of all rows of a dashboard body that read metrics: plain metrics, hidden ones included,
// and searches. Their IDs are unique, and none is hidden. They show when a dashboard has data.
func Watched(text []byte, w Window) ([]Query, error) {
	_, all, err := parse(text)
	if err != nil {
		return nil, err
	}
	l := loader{nil, w, mostPeriods}
	var out []Query
	for i := range all {
		if all[i].Type != typeMetric {
			continue
		}
		rows, err := all[i].properties.rows()
		if err != nil {
			continue // the widget says so when it is drawn
		}
		all[i].properties.SetPeriodToTimeRange = false
		for _, q := range l.queries(&all[i], rows) {
			if q.Metric == nil && !strings.HasPrefix(q.Expression, "SEARCH(") {
				continue
			}
			q.ID, q.Hidden, q.Label = "q"+strconv.Itoa(len(out)), false, ""
			out = append(out, q)
		}
	}
	return out, nil
}
