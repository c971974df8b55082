package render_test

import (
	"bytes"
	"context"
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

// loaded returns a page of a body with the data of points.
func loaded(t *testing.T, body string, points ...retrymetrics.Point) render.Page {
	t.Helper()
	data := render.Points(points)
	p, err := render.Load(t.Context(), dashboards.Name, []byte(body), data, data.Window())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// page returns the retry dashboard.
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
	return loaded(t, string(body), points...)
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

func drawn(t *testing.T, p render.Page, draw func(render.Page, io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := draw(p, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHTML(t *testing.T) {
	t.Parallel()
	p := page(t, someRetries()...)
	p.Alarms = []render.Alarm{{Name: "quiet", State: "OK"}, {Name: "loud", State: "ALARM at 00:05", Text: "<b>act</b>",
		Tripped: true}}
	text := drawn(t, p, render.Page.HTML)
	for _, want := range []string{
		"<h1>CSV-Processing-Retry-Monitor</h1>", "one point per 1s", `<td class="ALARM">ALARM at 00:05</td>`,
		"&lt;b&gt;act", "prefers-color-scheme:dark",
		`y="58.0">75</text>`, "States.Timeout: 4</title>", "00:00:30 Other: 2</title>", ">longest</text>",
		"<th>Errors</th>", "<h2>Retries of csv-import</h2>", "1 in ALARM, 1 OK, 0 other",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if strings.Index(text, "loud") > strings.Index(text, "quiet") {
		t.Error("the alarm that tripped is not first")
	}
	for _, not := range []string{"<script", "http://", "https://", "NaN", "<b>"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is on the page", not)
		}
	}
}

// wellFormed checks that a text is XML.
func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	t.Parallel()
	for name, points := range map[string][]retrymetrics.Point{
		"nothing": nil, "retries": someRetries(), "a month": append(someRetries(), point(retrymetrics.Throttles,
			30*24*3600, "", 1e7)),
	} {
		text := drawn(t, page(t, points...), render.Page.SVG)
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: a coordinate is no number", name)
		}
		if len(points) == 0 && !strings.Contains(text, "no data") {
			t.Errorf("%s: it does not say so", name)
		}
		wellFormed(t, name, text)
	}
}

func TestALongLegendLeavesRoomForTheChart(t *testing.T) {
	t.Parallel()
	var points []retrymetrics.Point
	for _, e := range retrymetrics.ErrorTypes() {
		points = append(points, point(retrymetrics.TaskFailures, 0, e, 1))
	}
	text := drawn(t, page(t, points...), render.Page.SVG)
	if !regexp.MustCompile(`>and \d+ more</text>`).MatchString(text) || strings.Contains(text, `y1="-`) {
		t.Error("the legend takes the chart's room")
	}
}

// oneWidget returns a body with one metric widget of the given rows.
func oneWidget(rows, properties string) string {
	return fmt.Sprintf(`{"widgets":[{"type":"metric","width":12,"height":6,"properties":{"title":"T","stat":"Sum","metrics":[%s]%s}}]}`, rows, properties)
}

func TestBodiesThatAreRefused(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"{":                           "dashboard body",
		`{"widgets":[{"width":25}]}`:  "widget 1 is outside the grid",
		`{"widgets":[{"y":9999999}]}`: "widget 1 is outside the grid",
	} {
		if _, err := render.Load(t.Context(), "n", []byte(body), render.Points(nil), render.Window{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// What cannot be drawn is said in the widget's own place; other widgets, and other rows, are drawn.
func TestWhatIsNotDrawnIsSaidInItsPlace(t *testing.T) {
	t.Parallel()
	const good = `,["CSVProcessing/Retry","RetryAttempts","StateMachine","csv-import",{"label":"good"}]`
	for rows, want := range map[string]string{
		`["CSVProcessing/Retry"]`: "names no metric",
		`["...","a"]`:             "names no metric",
		`[3]`:                     "cannot be read",
		`["CSVProcessing/Retry","RetrySuccessRate"]` + good:                `metric "RetrySuccessRate" is not in the catalogue`,
		`["CSVProcessing/Retry","RetryAttempts"]` + good:                   "not published with the dimensions",
		`["AWS/Lambda","Errors","FunctionName","f"]` + good:                "no metrics of AWS/Lambda",
		`[{"expression":"a + 1","label":"sum"}]` + good:                    "sum: column 1: no metric or expression has the id a",
		`[{"expression":"SEARCH('(', 'Sum', 60)","label":"found"}]` + good: "a parenthesis is not closed",
	} {
		p := loaded(t, oneWidget(rows, ""), someRetries()...)
		text := drawn(t, p, render.Page.SVG)
		w := p.Widgets[0]
		if got := w.Problem + strings.Join(w.Notes, ";"); !strings.Contains(got, want) || !strings.Contains(text, "not drawn: ") {
			t.Errorf("%s: %s, want %q", rows, got, want)
		}
		if strings.HasSuffix(rows, good) != (w.Problem == "" && strings.Contains(text, "good: 4</title>")) {
			t.Errorf("%s: the other row is drawn: %+v", rows, w.Lines)
		}
	}
	for body, want := range map[string]string{
		`{"widgets":[{"type":"explorer"}]}`:                                           `widgets of type "explorer" are not supported`,
		`{"widgets":[{"type":"custom","properties":{"endpoint":"arn:f"}}]}`:           "a Lambda function writes, arn:f",
		`{"widgets":[{"type":"metric","properties":{"metrics":[]}}]}`:                 "the widget has no metrics",
		`{"widgets":[{"type":"metric","properties":{"stacked":"yes"}}]}`:              "its properties cannot be read",
		`{"widgets":[{"type":"log","properties":{"query":"fields x"}}]}`:              "the query names no log group",
		`{"widgets":[{"type":"log","properties":{"query":"SOURCE 'g' | fields x"}}]}`: "contain no logs",
	} {
		p := loaded(t, body)
		if text := drawn(t, p, render.Page.HTML); !strings.Contains(p.Widgets[0].Problem, want) || !strings.Contains(text, "not drawn") {
			t.Errorf("%s: %q, want %q", body, p.Widgets[0].Problem, want)
		}
	}
}

const sources = `["CSVProcessing/Retry","RetrySuccess","StateMachine","csv-import",{"id":"success","visible":false}],`

// A dashboard that was edited in CloudWatch's console is drawn as before. The console abbreviates with dots what
// repeats the previous row, and writes expressions before their terms.
func TestABodyOfTheConsoleIsDrawn(t *testing.T) {
	t.Parallel()
	draw := func(rows string) string {
		return drawn(t, loaded(t, oneWidget(rows, `,"view":"timeSeries"`), someRetries()...), render.Page.SVG)
	}
	const rate = `[{"expression":"100 * success / (success + FILL(failure, 0))","label":"rate","id":"rate0"}]`
	want := draw(sources + `["CSVProcessing/Retry","RetryFailure","StateMachine","csv-import",{"id":"failure","visible":false}],` + rate)
	if !strings.Contains(want, "rate: 100</title>") {
		t.Error("the rate is not drawn")
	}
	for _, rows := range []string{
		sources + `[".","RetryFailure",".",".",{"id":"failure","visible":false}],` + rate,
		sources + `[".","RetryFailure","...",{"id":"failure","visible":false}],` + rate,
		rate + "," + sources + `[".","RetryFailure",".",".",{"id":"failure","visible":false}]`,
		sources + rate + `,[".","RetryFailure","...",{"id":"failure","visible":false}]`,
	} {
		if draw(rows) != want {
			t.Errorf("%s is drawn as something else", rows)
		}
	}
	row := `["CSVProcessing/Retry","RetryAttempts","StateMachine","csv-import"]`
	if got := draw(row + `,["..."]`); got != draw(row+","+row) {
		t.Error("a row that repeats all of the one before is drawn as something else")
	}
}

// The alarms above the widgets take at most a tenth of a picture, however many there are; those that fired come first,
// with their text.
func TestAlarmsTakeATenthOfThePicture(t *testing.T) {
	t.Parallel()
	height := func(p render.Page) (h float64) {
		if _, err := fmt.Sscanf(regexp.MustCompile(`height="\d+"`).FindString(drawn(t, p, render.Page.SVG)), `height="%f"`, &h); err != nil {
			t.Fatal(err)
		}
		return h
	}
	p := page(t, someRetries()...)
	without := height(p)
	for i := range 100 {
		p.Alarms = append(p.Alarms, render.Alarm{Name: fmt.Sprint("quiet-", i), State: "OK", Text: "all is well"})
	}
	p.Alarms = append(p.Alarms, render.Alarm{Name: "loud", State: "ALARM", Tripped: true, Text: "First: look at it."})
	if with := height(p); with <= without || with-without > 0.1*with {
		t.Errorf("the alarms take %v of %v pixels", with-without, with)
	}
	text := drawn(t, p, render.Page.SVG)
	for _, want := range []string{">loud</text>", ">First: look at it.</text>", ">quiet-0</text>", "more: 0 in ALARM"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
}

// endpoint answers queries by the name of their metric, as a source of any namespace.
type endpoint map[string][]float64

var began = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func (e endpoint) Metrics(_ context.Context, from, _ time.Time, queries []render.Query) ([]render.Series, error) {
	var all []render.Series
	for _, q := range queries {
		if q.Hidden {
			continue
		}
		name := q.Expression
		if q.Metric != nil {
			name = q.Metric.Name
		}
		s := render.Series{ID: q.ID, Label: q.Label}
		if s.Label == "" {
			s.Label = name
		}
		for i, v := range e[name] {
			s.Times, s.Values = append(s.Times, from.Add(time.Duration(i)*q.Period)), append(s.Values, v)
		}
		all = append(all, s)
	}
	return all, nil
}

func (e endpoint) Alarms(_ context.Context, arns []string) ([]render.Alarm, error) {
	threshold := 3.0
	var all []render.Alarm
	for _, arn := range arns {
		a := render.Alarm{Name: render.AlarmName(arn), ARN: arn, State: "ALARM", Tripped: true, Threshold: &threshold,
			Watched: []render.Query{{ID: "m", Expression: "watched", Period: time.Minute}}}
		if a.Name == "gone" {
			a = render.Alarm{Name: a.Name, State: render.Missing}
		}
		all = append(all, a)
	}
	return all, nil
}

func (e endpoint) Logs(_ context.Context, _, _ time.Time, q render.LogQuery) (render.Table, error) {
	if fmt.Sprint(q.Groups) != "[/aws/lambda/f g2]" || q.Text != "stats count(*) by bin(1m)" {
		return render.Table{}, fmt.Errorf("asked %+v", q)
	}
	return render.Table{Columns: []string{"bin(1m)", "count(*)"}, Rows: [][]string{{"2026-11-22 10:01:00.000", "4"},
		{"2026-11-22 10:00:00.000", "9"}}}, nil
}

func onEndpoint(t *testing.T, e endpoint, body string) render.Page {
	t.Helper()
	p, err := render.Load(t.Context(), "d", []byte(body), e, render.Window{From: began, To: began.Add(10 * time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Each view is drawn in each form, and says its figures.
func TestViews(t *testing.T) {
	t.Parallel()
	e := endpoint{"A": {1, 2, 3}, "B": {30, 20, 10}, "C": {-5, 5}, "None": nil, "watched": {4, 4}}
	const rows = `["Any/Namespace","A","D","x",{"label":"one"}],[".","B",{"yAxis":"right"}],[".","None"]`
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"both axes": {oneWidget(rows, `,"yAxis":{"left":{"label":"s"},"right":{"label":"%","max":40}}`),
			[]string{"10:00:00 one: 1</title>", "B: 20</title>", ">s · %</text>", ">40</text>"}},
		"negative": {oneWidget(`["n","C"]`, ""), []string{">-6</text>", ">6</text>", "C: -5</title>"}},
		"stacked":  {oneWidget(rows, `,"stacked":true`), []string{"one: 3</title>"}},
		"number": {oneWidget(rows, `,"view":"singleValue","sparkline":true`), []string{`>3</text>`, `>10</text>`,
			`>–</text>`, "<polyline"}},
		"gauge": {oneWidget(`["n","A"]`, `,"view":"gauge","yAxis":{"left":{"min":0,"max":6}},"annotations":{"horizontal":[{"value":5,"fill":"above","label":"hot","color":"#d62728"},[{"value":1},{"value":2,"label":"low"}]]}`),
			[]string{"A: 3</title>", "from 0 to 6</title>", "<title>hot</title>", ">6</text>"}},
		"bar":    {oneWidget(rows, `,"view":"bar"`), []string{"one: 3</title>", "B: 10</title>", ">10</text>"}},
		"pie":    {oneWidget(rows, `,"view":"pie"`), []string{"one: 3 (23.1 %)</title>", "B: 10 (76.9 %)</title>"}},
		"table":  {oneWidget(rows, `,"view":"table"`), []string{">latest</text>", ">one</text>", ">20</text>", ">60</text>"}},
		"legend": {oneWidget(rows, `,"legend":{"position":"right"}`), []string{">one</text>"}},
		"annotations": {oneWidget(`["n","A"]`, `,"annotations":{"horizontal":[{"value":2,"label":"limit","fill":"above"},{"value":9,"label":"unseen","visible":false}],"vertical":[{"value":"2026-11-22T10:02:00Z","label":"deployed","fill":"after"},[{"value":"2026-11-22T10:05:00Z"},{"value":"2026-11-22T10:06:00Z","label":"pause"}],{"value":"2020-01-01T00:00:00Z","label":"long ago"}]}`),
			[]string{">limit</text>", ">deployed</text>", ">pause</text>", `fill-opacity="0.12"`}},
		"alarm annotation": {`{"widgets":[{"type":"metric","properties":{"annotations":{"alarms":["arn:aws:cloudwatch:us-east-1:1:alarm:hot"]}}}]}`,
			[]string{"watched: 4</title>", ">hot</text>"}},
		"alarms": {`{"widgets":[{"type":"alarm","properties":{"title":"All","alarms":["arn:aws:cloudwatch:us-east-1:1:alarm:hot","gone"]}}]}`,
			[]string{">ALARM</text>", ">hot</text>", ">missing</text>"}},
		"equal names": {oneWidget(`["n","A","Q","x"],["n","A","Q","y"]`, ""), []string{">A x</text>", ">A y</text>"}},
		"log table": {`{"widgets":[{"type":"log","properties":{"title":"L","query":"SOURCE '/aws/lambda/f' | SOURCE 'g2' | stats count(*) by bin(1m)"}}]}`,
			[]string{">bin(1m)</text>", ">9</text>"}},
		"log lines": {`{"widgets":[{"type":"log","properties":{"view":"timeSeries","query":"SOURCE '/aws/lambda/f' | SOURCE 'g2' | stats count(*) by bin(1m)"}}]}`,
			[]string{"10:00:00 count(*): 9</title>", "10:01:00 count(*): 4</title>"}},
		"text": {`{"widgets":[{"type":"text","height":8,"properties":{"markdown":"# Head\n*two* words\n\n* item\n  1. inner\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n[button:Open](https://example.com) <script>x</script>"}}]}`,
			[]string{">Head</text>", ">two words</text>", ">• item</text>", ">1. inner</text>", ">a</text>", ">2</text>", ">Open x</text>"}},
		"empty": {oneWidget(`["n","None"]`, ""), []string{"no data"}},
	} {
		p := onEndpoint(t, e, c.body)
		for _, w := range p.Widgets {
			if w.Problem != "" {
				t.Errorf("%s: %s", name, w.Problem)
			}
		}
		text := drawn(t, p, render.Page.SVG)
		wellFormed(t, name, text)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in the picture", name, want)
			}
		}
		for _, not := range []string{"NaN", "Inf", ">unseen<", ">long ago<", "<script"} {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q is in the picture", name, not)
			}
		}
		if html := drawn(t, p, render.Page.HTML); strings.Contains(html, "<script") {
			t.Errorf("%s: a script is on the page", name)
		}
		drawn(t, p, render.Page.PNG)
		if empty := p.Empty(); (len(empty) > 0) != (name == "empty") {
			t.Errorf("%s: without data %q", name, empty)
		}
	}
}

// TestPeriods checks the periods that are asked for: the widget's and the row's own where the range allows it, longer
// ones for long ranges, and one for the whole range.
func TestPeriods(t *testing.T) {
	t.Parallel()
	const hour, day = time.Hour, 24 * time.Hour
	body := func(override, properties string) string {
		return `{"periodOverride":"` + override + `",` + strings.TrimPrefix(oneWidget(`["n","A",{"period":30}],["n","B"]`, properties), "{")
	}
	for _, c := range []struct {
		body string
		back time.Duration
		want string
	}{
		{body("auto", `,"period":60`), hour, "[30s 1m0s]"}, {body("auto", ""), hour, "[30s 5m0s]"},
		{body("auto", `,"period":60`), 12 * hour, "[5m0s 5m0s]"}, {body("inherit", `,"period":60`), 12 * hour, "[30s 1m0s]"},
		{body("inherit", `,"period":60`), 30 * day, "[1h0m0s 1h0m0s]"}, {body("auto", ""), 455 * day, "[24h0m0s 24h0m0s]"},
		{body("auto", `,"view":"singleValue","setPeriodToTimeRange":true`), 90 * time.Minute, "[1h30m0s 1h30m0s]"},
		{body("auto", `,"view":"singleValue"`), hour, "[30s 5m0s]"},
	} {
		p, err := render.Load(t.Context(), "d", []byte(c.body), endpoint{}, render.Window{From: began.Add(-c.back), To: began})
		if err != nil {
			t.Fatal(err)
		}
		var got []time.Duration
		for _, l := range p.Widgets[0].Lines {
			got = append(got, l.Period)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s over %v: %v, want %s", c.body, c.back, got, c.want)
		}
	}
	for text, want := range map[string]time.Duration{`{"start":"-PT3H"}`: 3 * hour, `{"start":"-P1D"}`: day, `{"start":"-P2W"}`: 14 * day,
		`{"start":"-P3M"}`: 90 * day, `{"start":"-PT15M"}`: 15 * time.Minute, `{"start":"2026-11-22T10:00:00Z"}`: 0, `{}`: 0, `{"start":"-P"}`: 0} {
		if got, ok := render.Range([]byte(text)); ok != (want > 0) || ok && got != want {
			t.Errorf("%s: %v %v, want %v", text, got, ok, want)
		}
	}
}

// Widgets without a place are placed one after the other.
func TestWidgetsWithoutAPlace(t *testing.T) {
	t.Parallel()
	p := onEndpoint(t, nil, `{"widgets":[{"type":"text","width":16},{"type":"text"},{"type":"text","width":6,"height":2},{"type":"text","x":12,"y":20}]}`)
	var got []string
	for _, w := range p.Widgets {
		got = append(got, fmt.Sprintf("%d,%d %dx%d", w.X, w.Y, w.Width, w.Height))
	}
	if want := []string{"0,0 16x6", "16,0 6x6", "0,6 6x2", "12,20 6x6"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzLoad checks that no body makes drawing fail.
func FuzzLoad(f *testing.F) {
	f.Add(oneWidget(`["n","A"]`, `,"view":"gauge","annotations":{"horizontal":[[]],"vertical":[[]]}`))
	f.Add(`{"widgets":[{"type":"metric","properties":{"metrics":[["n","A"]],"yAxis":{"left":{"min":3,"max":1}},"annotations":{"horizontal":[[]]}}}]}`)
	f.Add(`{"widgets":[{"type":"text","properties":{"markdown":"# a\n|b|\n|-|\n"}}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		p, err := render.Load(t.Context(), "d", []byte(body), endpoint{"A": {1, 2}}, render.Window{From: began, To: began.Add(time.Hour)})
		if err != nil {
			return
		}
		if err := p.SVG(io.Discard); err != nil {
			t.Error(err)
		}
		if err := p.HTML(io.Discard); err != nil {
			t.Error(err)
		}
	})
}

// Without the style sheet, which librsvg and Inkscape do not apply, each shape of a file has a color.
func TestShapesOfFilesHaveColorsWithoutCSS(t *testing.T) {
	t.Parallel()
	p, err := render.Load(t.Context(), "d", []byte(oneWidget(`["n","A"]`, `,"annotations":{"horizontal":[{"value":1,"label":"l"}]}`)),
		endpoint{"A": {1, 2}}, render.Window{From: began, To: began.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	p.Alarms = []render.Alarm{{Name: "a", Tripped: true}, {Name: "b"}}
	var picture strings.Builder
	if err := p.SVG(&picture); err != nil {
		t.Fatal(err)
	}
	shapes := regexp.MustCompile(`<(?:text|rect|line|polyline|circle|polygon) [^>]*>`).FindAllString(picture.String(), -1)
	for _, shape := range shapes {
		if !strings.Contains(shape, ` fill="`) && !strings.Contains(shape, ` stroke="`) {
			t.Errorf("no color: %s", shape)
		}
	}
	if len(shapes) < 10 {
		t.Errorf("the picture has %d shapes:\n%s", len(shapes), picture.String())
	}
}
