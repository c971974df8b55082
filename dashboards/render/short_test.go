package render

import (
	"math"
	"testing"
)

func TestShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {2.0 / 3, "0.667"}, {99.96, "100"}, {999.4, "999"}, {999.7, "1000"}, {-999.7, "-1000"},
		{3717, "3717"}, {12_345, "12.3k"},
		{9_999_990, "10000k"}, {12_345_678, "12.3M"}, {123_456_789, "123.5M"}, {1_234_567_890_123, "1234.6G"},
		{2.5e13, "25T"}, {1e300, "1e+300"},
		{math.NaN(), "–"},
	} {
		if got := short(c.v); got != c.want {
			t.Errorf("%v is %q, want %q", c.v, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		room int
		want string
	}{
		{"States.Timeout", 14, "States.Timeout"},
		{"States.Timeout", 8, "States.…"},
		{"利用者記録を処理する", 20, "利用者記録を処理する"},
		{"利用者記録を処理する", 10, "利用者記…"},
		{"States.Timeout", 0, "States.Timeout"},
	} {
		if got := cut(c.text, c.room); got != c.want {
			t.Errorf("%q in %d is %q, want %q", c.text, c.room, got, c.want)
		}
	}
}
