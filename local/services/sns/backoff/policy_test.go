package backoff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/local/services/sns/backoff"
)

func TestDelays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy backoff.Policy
		want   string
	}{
		{backoff.HTTP, "20s 20s 20s"},
		{backoff.Policy{}, ""},
		{backoff.Policy{Retries: 8, NoDelay: 1, MinDelay: 2, MaxDelay: 1, Min: 2 * time.Second, Max: 11 * time.Second,
			Function: backoff.Linear}, "0s 2s 2s 2s 5s 8s 11s 11s"},
		{backoff.Policy{Retries: 4, Min: time.Second, Max: 13 * time.Second, Function: backoff.Arithmetic},
			"1s 3s 7s 13s"},
		{backoff.Policy{Retries: 4, Min: time.Second, Max: 8 * time.Second, Function: backoff.Geometric}, "1s 2s 4s 8s"},
		{backoff.Policy{Retries: 4, Min: time.Second, Max: 8 * time.Second, Function: backoff.Exponential},
			"1s 2s 4s 8s"},
	} {
		var got []string
		sum := time.Duration(0)
		for n := 1; ; n++ {
			d, ok := c.policy.Delay(n)
			if !ok {
				break
			}
			sum += d
			got = append(got, fmt.Sprint(d.Round(time.Millisecond)))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: %s, want %s", c.policy, text, c.want)
		}
		if (sum - c.policy.Total()).Abs() > time.Microsecond {
			t.Errorf("%+v: %s in all, Total says %s", c.policy, sum, c.policy.Total())
		}
	}
	if d := backoff.Managed.Total(); d < 23*24*time.Hour || d > 24*24*time.Hour {
		t.Errorf("AWS's own endpoints are tried for %s", d)
	}
}

// Delays never decrease and stay within their limits.
func TestDelaysGrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := backoff.Policy{
			NoDelay: rapid.IntRange(0, 5).Draw(t, "none"), MinDelay: rapid.IntRange(0, 5).Draw(t, "min"),
			MaxDelay: rapid.IntRange(0, 5).Draw(t, "max"),
			Min:      time.Duration(rapid.IntRange(1, 100).Draw(t, "seconds")) * time.Second,
			Function: rapid.SampledFrom([]string{backoff.Linear, backoff.Arithmetic, backoff.Geometric,
				backoff.Exponential}).Draw(t, "function"),
		}
		p.Max = p.Min + time.Duration(rapid.IntRange(0, 1000).Draw(t, "more"))*time.Second
		p.Retries = p.NoDelay + p.MinDelay + p.MaxDelay + rapid.IntRange(0, 90).Draw(t, "growing")
		last := time.Duration(0)
		for n := 1; n <= p.Retries; n++ {
			d, ok := p.Delay(n)
			if !ok || d < last || d > p.Max || n > p.NoDelay && d < p.Min {
				t.Fatalf("%+v: retry %d after %s, %v; the one before after %s", p, n, d, ok, last)
			}
			last = d
		}
	})
}
