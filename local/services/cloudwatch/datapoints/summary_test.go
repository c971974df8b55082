package datapoints_test

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"stepback/local/services/cloudwatch/datapoints"
)

func TestStatistics(t *testing.T) {
	t.Parallel()
	var s datapoints.Summary
	for v := 1.0; v <= 10; v++ {
		s.Add(v*10, 2)
	}
	for text, want := range map[string]float64{
		"SampleCount": 20, "Sum": 1100, "Average": 55, "Minimum": 10, "Maximum": 100, "p0": 10, "p50": 55, "p100": 100,
		"TM(20:40)": 30, "TC(20:40)": 6, "TS(:40)": 200, "PR(:30)": 30, "PR(91:)": 10, "WM(20:90)": 55, "tc50": 10, "tm50": 30,
	} {
		statistic, err := datapoints.ParseStatistic(text)
		if err != nil {
			t.Error(err)
		} else if got := statistic.Of(&s); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "sum", "p101", "p", "TM(:)", "TM(1)", "TM(1.2.3:4)"} {
		if _, err := datapoints.ParseStatistic(text); err == nil {
			t.Errorf("%q is taken for a statistic", text)
		}
	}
}

func TestSummariesMergeAsTheirValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 2000).Draw(t, "values")
		cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
		var whole, left, right datapoints.Summary
		for i, v := range all {
			whole.Add(v, 1)
			if i < cut {
				left.Add(v, 1)
			} else {
				right.Add(v, 1)
			}
		}
		left.Merge(&right)
		if left.Count != whole.Count || left.Min != whole.Min || left.Max != whole.Max ||
			math.Abs(left.Sum-whole.Sum) > 1e-3 {
			t.Fatalf("%+v is not %+v", left, whole)
		}
		var again datapoints.Summary
		if err := again.Read(left.Append(nil)); err != nil || !reflect.DeepEqual(again, left) {
			t.Fatalf("%+v came back as %+v, %v", left, again, err)
		}
	})
}

func TestManyValuesAreRounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		decades, most int
		off           float64 // maximum error of the median
	}{{1, 900, 0.005}, {2, 1800, 0.005}, {9, 2048, 0.05}, {60, 2048, 0.5}} {
		var s datapoints.Summary
		const n = 40_000
		for i := range n {
			s.Add(math.Pow(10, float64((i*7919)%n)/n*float64(c.decades)), 1)
		}
		got, want := s.Percentile(50), math.Pow(10, float64(c.decades)/2)
		if s.Count != n || len(s.Values) > c.most+1 || math.Abs(got-want) > want*c.off {
			t.Errorf("%d decades: %v values, %d kept, median %v, want %v", c.decades, s.Count, len(s.Values), got, want)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	var s datapoints.Summary
	for i := range b.N {
		s.Add(0.5+float64(i*7919%1_000_003)/1000, 1)
	}
}

func FuzzRead(f *testing.F) {
	s := datapoints.Summary{Unit: "Count"}
	s.Add(1, 2)
	f.Add(s.Append(nil))
	f.Fuzz(func(_ *testing.T, b []byte) { _ = new(datapoints.Summary).Read(b) })
}
