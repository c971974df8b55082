package evaluation_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/local/services/cloudwatch/evaluation"
)

// TestMissingData checks the tables in the CloudWatch user guide: 0 is good, X breaches, - is missing.
func TestMissingData(t *testing.T) {
	t.Parallel()
	const retain = "retain"
	for _, c := range []struct {
		m       int
		data    string
		results [4]string // missing, ignore, breaching, notBreaching
	}{
		{3, "0-X-X", [4]string{"OK", "OK", "OK", "OK"}},
		{3, "0----", [4]string{"OK", "OK", "OK", "OK"}},
		{3, "-----", [4]string{"INSUFFICIENT_DATA", retain, "ALARM", "OK"}},
		{3, "0XX-X", [4]string{"ALARM", "ALARM", "ALARM", "ALARM"}},
		{3, "--X--", [4]string{"ALARM", retain, "ALARM", "OK"}},
		{2, "0-X-X", [4]string{"ALARM", "ALARM", "ALARM", "ALARM"}},
		{2, "00X0X", [4]string{"ALARM", "ALARM", "ALARM", "ALARM"}},
		{2, "0-X--", [4]string{"OK", "OK", "ALARM", "OK"}},
		{2, "----0", [4]string{"OK", "OK", "ALARM", "OK"}},
		{2, "---X-", [4]string{"ALARM", retain, "ALARM", "OK"}},
		{3, "----X", [4]string{retain, retain, "ALARM", "OK"}}, // it has not breached for long enough
	} {
		values := make([]float64, len(c.data))
		for i, r := range c.data {
			values[i] = map[rune]float64{'0': 0, 'X': 1, '-': math.NaN()}[r]
		}
		for i, treatment := range []string{"missing", "ignore", "breaching", "notBreaching"} {
			r := evaluation.Rule{M: c.m, N: 3, Treatment: treatment, Comparison: "GreaterThanThreshold", Threshold: 0.5}
			if got, _ := r.Decide(retain, values); got != c.results[i] {
				t.Errorf("%d of 3 of %s, %s: %s, want %s", c.m, c.data, treatment, got, c.results[i])
			}
		}
	}
}

func TestCompleteDataIsCounted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "n")
		m := rapid.IntRange(1, n).Draw(t, "m")
		values := rapid.SliceOfN(rapid.Float64Range(0, 1), n+evaluation.Margin, n+evaluation.Margin).Draw(t, "values")
		breaching := 0
		for _, v := range values[evaluation.Margin:] {
			if v < 0.5 {
				breaching++
			}
		}
		want := evaluation.OK
		if breaching >= m {
			want = evaluation.Alarm
		}
		r := evaluation.Rule{M: m, N: n, Treatment: rapid.SampledFrom([]string{"missing", "ignore", "breaching", "notBreaching"}).
			Draw(t, "treatment"), Comparison: "LessThanThreshold", Threshold: 0.5}
		if got, used := r.Decide(evaluation.Insufficient, values); got != want || len(used) != n {
			t.Fatalf("%s by %v, want %s", got, used, want)
		}
	})
}

func TestComposite(t *testing.T) {
	t.Parallel()
	states := map[string]string{"a": "ALARM", "b": "OK", "c c": "INSUFFICIENT_DATA"}
	for text, want := range map[string]bool{
		`ALARM(a)`: true, `ALARM("b")`: false, `ALARM(a) AND NOT OK(b)`: false, `ALARM(a) AND (OK(b) OR OK(a))`: true,
		`INSUFFICIENT_DATA("c c")`: true, `FALSE OR TRUE AND ALARM( a )`: true, `NOT NOT ALARM(a)`: true,
	} {
		c, err := evaluation.ParseComposite(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := c.Fires(func(name string) string { return states[name] }); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for text, want := range map[string]string{
		"": "column 1: expected ALARM, OK, INSUFFICIENT_DATA, NOT, TRUE, FALSE or (", "ALARM(a) b": "column 10: expected AND, OR or the end",
		"ALARM a": "column 7: expected (", `OK("a)`: "column 4: the name does not end", "(OK(a)": "column 7: expected )",
	} {
		if _, err := evaluation.ParseComposite(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParseComposite(f *testing.F) {
	f.Add(`ALARM("a") AND NOT (OK(b) OR TRUE)`)
	f.Add(strings.Repeat("(", 200))
	f.Fuzz(func(_ *testing.T, text string) {
		if c, err := evaluation.ParseComposite(text); err == nil {
			c.Fires(func(string) string { return "OK" })
		}
	})
}
