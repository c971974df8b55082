package retry_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"stepback/retry"
)

// half draws the middle of every range.
type half struct{}

func (half) Uint64() uint64 { return math.MaxUint64/2 + 1 }

func TestSDKDelays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		sdk   retry.SDK
		cause retry.Cause
		want  string
	}{
		{"2025", retry.SDK2025(), retry.CauseOther, "1s 2s 4s 8s 20s 20s"},
		{"2025, throttled", retry.SDK2025(), retry.CauseThrottle, "1s 2s 4s 8s 20s 20s"},
		{"2026", retry.SDK2026(), retry.CauseOther, "25ms 50ms 100ms 200ms 400ms 800ms"},
		{"2026, timed out", retry.SDK2026(), retry.CauseTimeout, "25ms 50ms 100ms 200ms 400ms 800ms"},
		{"2026, throttled", retry.SDK2026(), retry.CauseThrottle, "500ms 1s 2s 4s 8s 10s"},
		{"DynamoDB", retry.SDK2026DynamoDB(), retry.CauseOther, "12.5ms 25ms 50ms 100ms 200ms 400ms"},
		{"DynamoDB, throttled", retry.SDK2026DynamoDB(), retry.CauseThrottle, "500ms 1s 2s 4s 8s 10s"},
	} {
		got := ""
		for failed := 1; failed <= 6; failed++ {
			if failed > 1 {
				got += " "
			}
			got += c.sdk.Delay(failed, c.cause, half{}).Round(time.Microsecond).String()
		}
		if got != c.want {
			t.Errorf("%s: the middle of the waits is %s, want %s", c.name, got, c.want)
		}
	}
	if d := retry.SDK2026().Delay(1<<40, retry.CauseThrottle, nil); d != 20*time.Second {
		t.Errorf("the longest wait is %s, want 20s", d)
	}
	if d := retry.SDK2026().Delay(0, retry.CauseThrottle, nil); d != 0 {
		t.Errorf("the wait before the first attempt is %s, want 0", d)
	}
}

func TestSDKWaits(t *testing.T) {
	t.Parallel()
	s := retry.SDK2025()
	s.MaxAttempts = 6
	if got, want := fmt.Sprint(s.Waits(retry.CauseOther)), "[{0s 1s 2s} {0s 2s 4s} {0s 4s 8s} {0s 8s 16s} {20s 20s 20s}]"; got != want {
		t.Errorf("waits %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(retry.SDK2026().Waits(retry.CauseOther)), "[{0s 25ms 50ms} {0s 50ms 100ms}]"; got != want {
		t.Errorf("waits %s, want %s", got, want)
	}
}

func TestSDKRetryAfter(t *testing.T) {
	t.Parallel()
	const wait = 100 * time.Millisecond
	for asked, want := range map[time.Duration]time.Duration{
		0: wait, -time.Second: wait, 50 * time.Millisecond: wait, time.Second: time.Second,
		5100 * time.Millisecond: 5100 * time.Millisecond, time.Minute: 5100 * time.Millisecond,
	} {
		if got := retry.SDK2026().After(wait, asked); got != want {
			t.Errorf("asked for %s: waits %s, want %s", asked, got, want)
		}
		if got := retry.SDK2025().After(wait, asked); got != wait {
			t.Errorf("the SDK of 2025 waits %s, want %s", got, wait)
		}
	}
}

func TestThrottles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Lambda.TooManyRequestsException": true, "ThrottlingException": true, "S3.SlowDown": true,
		"TooManyRequestsError": true, "DynamoDB.ProvisionedThroughputExceededException": true,
		"ServiceUnavailableError": false, "States.Timeout": false, "": false, "TooManyRequests": false,
	} {
		if got := retry.IsThrottle(name); got != want {
			t.Errorf("%q: throttle is %v, want %v", name, got, want)
		}
	}
}
