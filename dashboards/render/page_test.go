package render_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/dashboards"
	"stepback/dashboards/render"
	"stepback/retrymetrics"
)

const machine = "csv-import"

func point(m *retrymetrics.Metric, second int64, errorType string, v float64) retrymetrics.Point {
	l := retrymetrics.Labels{StateMachine: machine, State: "Work", ErrorType: errorType}
	return retrymetrics.Point{Metric: m, Labels: l, Start: time.Unix(second, 0).UTC(), Values: []float64{v},
		Counts: []int64{1}}
}

func page(t *testing.T, points ...retrymetrics.Point) render.Page {
	t.Helper()
	d, err := dashboards.Monitor(dashboards.Options{StateMachine: machine, Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.Body()
	if err != nil {
		t.Fatal(err)
	}
	return render.Page{Name: d.Name, Body: body, Data: render.Points(points)}
}

func someRetries() []retrymetrics.Point {
	return []retrymetrics.Point{
		point(retrymetrics.TaskAttempts, 0, "", 10), point(retrymetrics.TaskFailures, 0, "States.Timeout", 4),
		point(retrymetrics.TaskFailures, 30, "Other", 2),
		point(retrymetrics.RetryAttempts, 1, "States.Timeout", 4), point(retrymetrics.RetrySuccess, 2, "States.Timeout",
			3),
		point(retrymetrics.RetryFailure, 90, "States.Timeout", 1), point(retrymetrics.RetryDelay, 1, "", 2.5),
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	p := page(t, someRetries()...)
	p.Alarms = []render.Alarm{{Name: "quiet", State: "OK"}, {Name: "loud", State: "ALARM at 00:05", Text: "<b>act</b>",
		Tripped: true}}
	var out bytes.Buffer
	if err := p.HTML(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<h1>CSV-Processing-Retry-Monitor</h1>", "one point per 1s", `<td class="ALARM">ALARM at 00:05</td>`,
		"&lt;b&gt;act", "prefers-color-scheme:dark",
		`y="58.0">75</text>`, "States.Timeout: 4</title>", "00:00:30 Other: 2</title>", ">longest</text>",
		"<th>Errors</th>",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if strings.Index(out.String(), "loud") > strings.Index(out.String(), "quiet") {
		t.Error("the alarm that tripped is not first")
	}
	for _, not := range []string{"<script", "http://", "https://", "NaN", "<b>"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("%q is on the page", not)
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	t.Parallel()
	for name, points := range map[string][]retrymetrics.Point{
		"nothing": nil, "retries": someRetries(), "a month": append(someRetries(), point(retrymetrics.Throttles,
			30*24*3600, "", 1e7)),
	} {
		var out bytes.Buffer
		if err := page(t, points...).SVG(&out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
			t.Errorf("%s: a coordinate is no number", name)
		}
		if len(points) == 0 && !strings.Contains(out.String(), "no data") {
			t.Errorf("%s: it does not say so", name)
		}
		for d := xml.NewDecoder(&out); ; {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

func TestALongLegendLeavesRoomForTheChart(t *testing.T) {
	t.Parallel()
	var points []retrymetrics.Point
	for _, e := range retrymetrics.ErrorTypes() {
		points = append(points, point(retrymetrics.TaskFailures, 0, e, 1))
	}
	var out bytes.Buffer
	if err := page(t, points...).SVG(&out); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`>and \d+ more</text>`).MatchString(out.String()) || strings.Contains(out.String(),
		`y1="-`) {
		t.Error("the legend takes the chart's room")
	}
}

func TestBodiesThatCannotBeDrawn(t *testing.T) {
	t.Parallel()
	widget := func(row string) string {
		return fmt.Sprintf(`{"widgets":[{"type":"metric","width":6,"height":6,"properties":{"title":"T","stat":"Sum","metrics":[%s]}}]}`, row)
	}
	for body, want := range map[string]string{
		"{":                               "dashboard body",
		`{"widgets":[{"width":25}]}`:      "widget 1 is outside the grid",
		widget(`["CSVProcessing/Retry"]`): "names no metric of CSVProcessing/Retry",
		widget(`["...","a"]`):             "names no metric of CSVProcessing/Retry",
		widget(`["CSVProcessing/Retry","RetrySuccessRate"]`):                                                                        `metric "RetrySuccessRate" is not in the catalogue`,
		widget(`["CSVProcessing/Retry","RetryAttempts"]`):                                                                           "not published with the dimensions",
		widget(`["CSVProcessing/Retry","RetryAttempts","StateMachine","csv-import",{"stat":"p10"}]`):                                `statistic "p10"`,
		widget(`[{"expression":"a + 1"}]`):                                                                                          `"a" is not the ID of a metric`,
		widget(`[{"expression":"SEARCH('{CSVProcessing/Retry,StateMachine} MetricName=\"Nope\" StateMachine=\"m\"', 'Sum', 60)"}]`): `metric "Nope"`,
		widget(`[3]`): "cannot unmarshal",
	} {
		p := render.Page{Name: "n", Body: []byte(body), Data: render.Points(someRetries())}
		err := p.HTML(io.Discard)
		if e := p.SVG(io.Discard); err == nil || !strings.Contains(err.Error(), want) ||
			(e == nil && body != `{"widgets":[{"width":25}]}`) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

const sources = `["CSVProcessing/Retry","RetrySuccess","StateMachine","csv-import",{"id":"success","visible":false}],`

// A dashboard that was edited in CloudWatch's console is drawn as before. The console abbreviates with dots what
// repeats the previous row, and writes expressions before their terms.
func TestABodyOfTheConsoleIsDrawn(t *testing.T) {
	t.Parallel()
	drawn := func(rows string) string {
		body := `{"widgets":[{"type":"metric","width":12,"height":6,"properties":{"title":"T","view":"timeSeries","stat":"Sum","metrics":[` + rows + `]}}]}`
		var out bytes.Buffer
		if err := (render.Page{Name: "n", Body: []byte(body),
			Data: render.Points(someRetries())}).SVG(&out); err != nil {
			t.Errorf("%s: %v", rows, err)
		}
		return out.String()
	}
	const rate = `[{"expression":"100 * success / (success + FILL(failure, 0))","label":"rate","id":"rate0"}]`
	want := drawn(sources + `["CSVProcessing/Retry","RetryFailure","StateMachine","csv-import",{"id":"failure","visible":false}],` + rate)
	if !strings.Contains(want, "rate: 100</title>") {
		t.Error("the rate is not drawn")
	}
	for _, rows := range []string{
		sources + `[".","RetryFailure",".",".",{"id":"failure","visible":false}],` + rate,
		sources + `[".","RetryFailure","...",{"id":"failure","visible":false}],` + rate,
		rate + "," + sources + `[".","RetryFailure",".",".",{"id":"failure","visible":false}]`,
		sources + rate + `,[".","RetryFailure","...",{"id":"failure","visible":false}]`,
	} {
		if drawn(rows) != want {
			t.Errorf("%s is drawn as something else", rows)
		}
	}
	row := `["CSVProcessing/Retry","RetryAttempts","StateMachine","csv-import"]`
	if got := drawn(row + `,["..."]`); got != drawn(row+","+row) {
		t.Error("a row that repeats all of the one before is drawn as something else")
	}
}

// A widget with another service's metric is reported; all other widgets are drawn.
func TestOtherServicesMetricsAreToldAndNotDrawn(t *testing.T) {
	t.Parallel()
	p := page(t, someRetries()...)
	p.Body = bytes.Replace(p.Body, []byte(`"widgets": [`),
		[]byte(`"widgets": [{"type":"metric","width":6,"height":3,"y":3,"properties":{"title":"Own","metrics":[["AWS/Lambda","Errors","FunctionName","f"]]}},
		{"type":"metric","width":6,"height":3,"y":3,"x":6,"properties":{"title":"One","view":"singleValue","metrics":[["AWS/SQS","NumberOfMessagesSent"]]}},`), 1)
	for form, draw := range map[string]func(render.Page, io.Writer) error{"HTML": render.Page.HTML,
		"SVG": render.Page.SVG} {
		var out bytes.Buffer
		if err := draw(p, &out); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		for _, want := range []string{"not drawn: AWS/Lambda Errors is not a metric o…<",
			"not drawn: AWS/SQS NumberOfMessagesSent is not…<", "States.Timeout: 4</title>"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not on the page", form, want)
			}
		}
	}
	empty, err := p.Empty()
	if err != nil || slices.Contains(empty, "Own") {
		t.Errorf("without data: %q (%v)", empty, err)
	}
	requests, err := render.Requests(p.Body, p.Data.Find)
	if err != nil || len(requests) == 0 {
		t.Errorf("%d requests (%v)", len(requests), err)
	}
}

// The first action that an alarm names is shown in full, and labels of close values do not cover each other's lines.
func TestNothingIsCutOff(t *testing.T) {
	t.Parallel()
	p := page(t, someRetries()...)
	p.Alarms = []render.Alarm{{Name: "loud", State: "ALARM", Tripped: true,
		Text: strings.Repeat("Something that is called fails a lot. ", 5) + "First: look at it."}}
	var out bytes.Buffer
	if err := p.SVG(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "…") || !strings.Contains(text, "look at it.</text>") {
		t.Error("an alarm's text is cut off")
	}
}
