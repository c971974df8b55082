package resilience_test

import (
	"math"
	"testing"
	"time"

	"stepback/resilience"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, date string
		want        time.Duration
		ok          bool
	}{
		{"120", "", 2 * time.Minute, true},
		{" 0 ", "", 0, true},
		{"31536000", "", 365 * 24 * time.Hour, true},
		{"99999999999999999999", "", math.MaxInt64, true},
		{"9223372037", "", math.MaxInt64, true},
		{"Sun, 22 Nov 2026 12:00:30 GMT", "", 30 * time.Second, true},
		{"Sun, 22 Nov 2026 12:00:30 GMT", "Sun, 22 Nov 2026 12:00:10 GMT", 20 * time.Second, true},
		// the server's clock is ahead
		{"Sun, 22 Nov 2026 12:00:30 GMT", "nonsense", 30 * time.Second, true},
		{"Sunday, 22-Nov-26 12:00:30 GMT", "", 30 * time.Second, true},
		{"Sun Nov 22 12:00:30 2026", "", 30 * time.Second, true},
		{"Thu, 01 Jan 1970 00:00:00 GMT", "", 0, true},
		{"Fri, 31 Dec 9999 23:59:59 GMT", "", math.MaxInt64, true},
		{"", "", 0, false},
		{"-5", "", 0, false},
		{"1.5", "", 0, false},
		{"soon", "", 0, false},
		{"1e3", "", 0, false},
		{"+5", "", 0, false},
	} {
		if got, ok := resilience.ParseRetryAfter(c.value, c.date, noon); got != c.want || ok != c.ok {
			t.Errorf("%q (Date %q): %s, %v; want %s, %v", c.value, c.date, got, ok, c.want, c.ok)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, s := range []string{"1", "-1", "Sun, 22 Nov 2026 12:00:30 GMT", "99999999999999999999", "\x00"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		if d, ok := resilience.ParseRetryAfter(value, date, noon); d < 0 || !ok && d != 0 {
			t.Errorf("%q, %q: %s, %v", value, date, d, ok)
		}
	})
}
