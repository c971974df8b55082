package dashboards_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stepback/dashboards"
	"stepback/retrymetrics"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func monitor(t *testing.T, level retrymetrics.Level) dashboards.Dashboard {
	t.Helper()
	d, err := dashboards.Monitor(dashboards.Options{
		StateMachine: "csv-import", Region: "ap-northeast-1", Level: level, FilesMachine: "csv-import-files",
		Alarms: []string{"arn:aws:cloudwatch:ap-northeast-1:000000000000:alarm:csv-import-dead-letters"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestBodyIsGolden(t *testing.T) {
	t.Parallel()
	for _, level := range []retrymetrics.Level{retrymetrics.LevelAll, retrymetrics.LevelError} {
		got, err := monitor(t, level).Body()
		if err != nil {
			t.Fatal(err)
		}
		golden := "testdata/monitor-" + strings.ToLower(string(level)) + ".json"
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is out of date (%v): run go test ./dashboards -update and look at the difference", golden, err)
		}
	}
}

// widget is a metric widget as CloudWatch reads it.
type widget struct {
	X, Y, Width, Height int
	Type                string
	Properties          struct {
		Title, Region, View string
		Period              int
		Metrics             [][]any
		YAxis               struct{ Left struct{ Label string } }
	}
}

var (
	searched   = regexp.MustCompile(`^SEARCH\('\{([^}]*)\} MetricName="(\w+)" StateMachine="csv-import(?:-files)?"', '\w+', 60\)$`)
	identifier = regexp.MustCompile(`[a-z][a-zA-Z0-9_]*`)
)

// Every metric that the written body refers to, parsed without this package, is declared with exactly those
// dimensions.
func TestEveryRowOfTheBodyIsAPublishedMetric(t *testing.T) {
	t.Parallel()
	text, err := monitor(t, retrymetrics.LevelAll).Body()
	if err != nil {
		t.Fatal(err)
	}
	var body struct{ Widgets []widget }
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatal(err)
	}
	for _, w := range body.Widgets {
		ids := map[string]bool{}
		for _, row := range w.Properties.Metrics {
			options := row[len(row)-1].(map[string]any)
			if id, ok := options["id"].(string); ok {
				if ids[id] {
					t.Errorf("%s: id %s twice", w.Properties.Title, id)
				}
				ids[id] = true
			}
			if expression, ok := options["expression"].(string); ok {
				checkExpression(t, expression, ids)
				continue
			}
			dimensions := map[retrymetrics.Dimension]string{}
			for i := 2; i+1 < len(row)-1; i += 2 {
				dimensions[retrymetrics.Dimension(row[i].(string))] = row[i+1].(string)
			}
			s, err := retrymetrics.SeriesOf(row[1].(string), dimensions)
			if row[0] != retrymetrics.Namespace || err != nil {
				t.Errorf("%s: %v %v", w.Properties.Title, row, err)
				continue
			}
			label := w.Properties.YAxis.Left.Label
			if label != "" && options["id"] == nil && label != string(s.Metric.Unit()) {
				t.Errorf("%s: %s is in %s, the axis in %s", w.Properties.Title, row[1], s.Metric.Unit(), label)
			}
		}
	}
}

func checkExpression(t *testing.T, expression string, ids map[string]bool) {
	t.Helper()
	if found := searched.FindStringSubmatch(expression); found != nil {
		m, ok := retrymetrics.Named(found[2])
		if !ok || !slices.ContainsFunc(m.Sets(), func(s retrymetrics.Set) bool {
			return found[1] == retrymetrics.Namespace+","+strings.Trim(strings.ReplaceAll(s.String(), ", ", ","), "{}")
		}) {
			t.Errorf("%s finds nothing", expression)
		}
		return
	}
	for _, id := range identifier.FindAllString(expression, -1) {
		if !ids[id] {
			t.Errorf("%s: %s is no id of the widget's", expression, id)
		}
	}
}

func TestWidgetsDoNotOverlap(t *testing.T) {
	t.Parallel()
	all := monitor(t, retrymetrics.LevelAll).Widgets
	for i, a := range all {
		for _, b := range all[:i] {
			if a.X < b.X+b.Width && b.X < a.X+a.Width && a.Y < b.Y+b.Height && b.Y < a.Y+a.Height {
				t.Errorf("%q lies over %q", a.Title, b.Title)
			}
		}
	}
}

func TestAtLevelErrorNothingTakesMore(t *testing.T) {
	t.Parallel()
	for _, w := range monitor(t, retrymetrics.LevelError).Widgets {
		if w.Metric == nil {
			continue
		}
		for _, r := range w.Metric.Rows {
			if r.Series != nil && !r.Series.Metric.At(retrymetrics.LevelError) || r.Rate != nil &&
				!r.Rate.At(retrymetrics.LevelError) {
				t.Errorf("%s: %s has no data", w.Title, r.Label)
			}
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	series := func(s retrymetrics.Series) *dashboards.MetricWidget {
		return &dashboards.MetricWidget{Rows: []dashboards.Row{{Label: "r", Series: &s}}, Unit: retrymetrics.Count}
	}
	for want, w := range map[string]dashboards.Widget{
		"off the grid":  {X: 20, Width: 5, Height: 1},
		"0 rows":        {Width: 1, Height: 1, Metric: &dashboards.MetricWidget{}},
		"has no metric": {Width: 1, Height: 1, Metric: &dashboards.MetricWidget{Rows: []dashboards.Row{{}}}},
		"RetryDelay is not published with {StateMachine, ErrorType}": {Width: 1, Height: 1,
			Metric: series(retrymetrics.RetryDelay.In(retrymetrics.ByError, "m", "e"))},
		"takes 2 values, not 1": {Width: 1, Height: 1,
			Metric: series(retrymetrics.Throttles.In(retrymetrics.ByState, "m"))},
		"is in Seconds and the axis in Count": {Width: 1, Height: 1,
			Metric: series(retrymetrics.RetryDelay.In(retrymetrics.ByMachine, "m"))},
		"101 alarms": {Width: 1, Height: 1, Alarms: make([]string, 101)},
	} {
		err := dashboards.Dashboard{Name: "d", Widgets: []dashboards.Widget{w}}.Check()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := dashboards.Monitor(dashboards.Options{Region: "r"}); err == nil {
		t.Error("a dashboard of nothing")
	}
}

// The dashboard of a state machine that is not the CSV import has no widget on files, rows or the import's states.
func TestGeneralDashboardsSpeakOfExecutions(t *testing.T) {
	t.Parallel()
	d, err := dashboards.Monitor(dashboards.Options{StateMachine: "orders", Region: "r", General: true})
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, w := range d.Widgets {
		titles = append(titles, w.Title)
	}
	body, err := d.Body()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"File", "file", "Row", "ValidateCSVFile", "Base configuration"} {
		if strings.Contains(string(body), word) {
			t.Errorf("%q is in the body; widgets: %q", word, titles)
		}
	}
	if !slices.Contains(titles, "Failed executions") || !slices.Contains(titles, "Executions that ended") {
		t.Errorf("%q", titles)
	}
}

func ExampleMonitor() {
	d, err := dashboards.Monitor(dashboards.Options{StateMachine: "csv-import", Region: "ap-northeast-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range d.Widgets[1:4] {
		fmt.Println(w.Title)
	}
	// Output:
	// Retries
	// Retry success rate
	// Rows tried again
}
