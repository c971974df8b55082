package retrymetrics_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/retrymetrics"
)

func TestEMFLine(t *testing.T) {
	t.Parallel()
	l := retrymetrics.Labels{StateMachine: machine, State: "Work"}
	minute := time.Unix(60, 0)
	got, err := retrymetrics.AppendEMF(nil, []retrymetrics.Point{
		{Metric: retrymetrics.Throttles, Labels: l, Start: minute, Values: []float64{3}, Counts: []int64{1}},
		{Metric: retrymetrics.RetryDelay, Labels: l, Start: minute, Values: []float64{1.5, 2}, Counts: []int64{2, 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"RetryDelay":[1.5,1.5,2],"State":"Work","StateMachine":"csv-import","Throttles":3,"_aws":{"CloudWatchMetrics":[` +
		`{"Namespace":"CSVProcessing/Retry","Dimensions":[["StateMachine"],["StateMachine","State"]],` +
		`"Metrics":[{"Name":"Throttles","Unit":"Count"},{"Name":"RetryDelay","Unit":"Seconds"}]}],"Timestamp":60000}}` +
		"\n"
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func drawPoints(t *rapid.T) []retrymetrics.Point {
	all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) retrymetrics.Point {
		p := retrymetrics.Point{
			Metric: rapid.SampledFrom(retrymetrics.Catalogue()).Draw(t, "metric"),
			Labels: retrymetrics.Labels{
				StateMachine: rapid.SampledFrom([]string{"m", "n"}).Draw(t, "machine"),
				State:        rapid.SampledFrom([]string{"", "Work"}).Draw(t, "state"),
				ErrorType:    rapid.SampledFrom([]string{"", "Other"}).Draw(t, "error"),
			},
			Start: time.Unix(60*rapid.Int64Range(0, 3).Draw(t, "minute"), 0).UTC(),
		}
		p.Values = []float64{rapid.Float64Range(0, 900).Draw(t, "value")}
		p.Counts = []int64{1}
		if p.Metric == retrymetrics.RetryDelay {
			p.Counts[0] = rapid.Int64Range(1, 250).Draw(t, "count")
		}
		return p
	}), 0, 30).Draw(t, "points")
	return retrymetrics.Merge(all)
}

// Every line is within the format's limits, every target exists, and no value is lost or duplicated.
func TestEMFKeepsToTheSpecification(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		points := drawPoints(t)
		text, err := retrymetrics.AppendEMF(nil, points)
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]int64{}
		for line := range bytes.Lines(text) {
			for name, n := range checkLine(t, line) {
				told[name] += n
			}
		}
		for _, p := range points {
			for _, s := range p.Metric.Sets() {
				for _, n := range p.Counts {
					if p.Labels.Has(s) {
						told[p.Metric.Name()] -= n
					}
				}
			}
		}
		for name, n := range told {
			if n != 0 {
				t.Errorf("%s: %d values too many", name, n)
			}
		}
	})
}

// checkLine checks one line and returns how many values of each metric it has, over all dimension sets.
func checkLine(t *rapid.T, line []byte) map[string]int64 {
	var root map[string]json.RawMessage
	if err := json.Unmarshal(line, &root); err != nil {
		t.Fatal(err)
	}
	var aws struct {
		Timestamp         int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	}
	if err := json.Unmarshal(root["_aws"], &aws); err != nil || len(line) > 256<<10 {
		t.Fatal(err, len(line))
	}
	told := map[string]int64{}
	for _, d := range aws.CloudWatchMetrics {
		if d.Namespace != retrymetrics.Namespace || len(d.Metrics) == 0 || len(d.Metrics) > 100 ||
			len(d.Dimensions) == 0 {
			t.Fatalf("directive %+v", d)
		}
		for _, set := range d.Dimensions {
			for _, name := range set {
				var v string
				if err := json.Unmarshal(root[name], &v); err != nil || v == "" {
					t.Fatalf("dimension %s: %v", name, err)
				}
			}
		}
		for _, m := range d.Metrics {
			declared, ok := retrymetrics.Named(m.Name)
			if !ok || string(declared.Unit()) != m.Unit || told[m.Name] != 0 {
				t.Fatalf("metric %+v", m)
			}
			told[m.Name] = int64(len(valuesOf(t, root[m.Name])) * len(d.Dimensions))
		}
	}
	return told
}

func valuesOf(t *rapid.T, text json.RawMessage) []float64 {
	var one float64
	if json.Unmarshal(text, &one) == nil {
		return []float64{one}
	}
	var many []float64
	if err := json.Unmarshal(text, &many); err != nil || len(many) == 0 || len(many) > 100 {
		t.Fatalf("%s: %v", text, err)
	}
	return many
}

func TestErrorTypesAreBounded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"States.Timeout": "States.Timeout", "ValidationError": "ValidationError", "boundsError": "Other", "": "Other",
	} {
		if got := retrymetrics.ErrorTypeOf(name); got != want {
			t.Errorf("%q is counted as %q, want %q", name, got, want)
		}
	}
	if n := len(retrymetrics.ErrorTypes()); n > 80 {
		t.Errorf("%d error types: each is several metrics to pay for", n)
	}
}

func ExampleCollector() {
	var c retrymetrics.Collector
	c.Add("arn:aws:states:us-east-1:000000000000:execution:csv-import:file-1", everything())
	for _, p := range c.Points()[:4] {
		fmt.Println(p.Start.Format("15:04"), p.Metric.Name(), p.Labels.State, p.Labels.ErrorType, p.Values[0],
			p.Metric.Unit())
	}
	// Output:
	// 00:00 AttemptsPerTask Work  2 Count
	// 00:00 CircuitBreakerState Work  0 None
	// 00:00 RetryAttempts Work  0 Count
	// 00:00 RetryAttempts Work Lambda.TooManyRequestsException 1 Count
}

// TestOwnErrorTypesAreBounded checks that with OwnErrors, each machine's first error names become their own
// ErrorTypes, except those that cannot be a dimension's value.
func TestOwnErrorTypesAreBounded(t *testing.T) {
	t.Parallel()
	c := retrymetrics.Collector{OwnErrors: 2}
	for _, name := range []string{"CardDeclined", "two\nlines", "StockGone", "CardDeclined", "TooMany", "States.Timeout"} {
		c.AddRows(machine, time.Unix(100, 0), retrymetrics.Rows{Retried: map[string]int64{name: 1}})
	}
	c.AddRows("other", time.Unix(100, 0), retrymetrics.Rows{Retried: map[string]int64{"TooMany": 1}})
	got := map[[2]string]int64{}
	for _, p := range c.Points() {
		if p.Metric == retrymetrics.RowsRetried && p.Labels.ErrorType != "" {
			for i, n := range p.Counts {
				got[[2]string{p.Labels.StateMachine, p.Labels.ErrorType}] += n * int64(p.Values[i])
			}
		}
	}
	want := map[[2]string]int64{{machine, "CardDeclined"}: 2, {machine, "StockGone"}: 1, {machine, "Other"}: 2,
		{machine, "States.Timeout"}: 1, {"other", "TooMany"}: 1}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
