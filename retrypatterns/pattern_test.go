package retrypatterns_test

import (
	"slices"
	"testing"
	"time"

	"stepback/retry"
	rp "stepback/retrypatterns"
)

func TestPatternsHoldTheSourcesNumbers(t *testing.T) {
	t.Parallel()
	want := []rp.Pattern{
		{Name: "aggressive", Use: "temporary errors", Policy: retry.Policy{MaxAttempts: 5, Interval: time.Second,
			Rate: 2.0, MaxDelay: time.Minute, Jitter: "FULL"}},
		{Name: "conservative", Use: "resource limits", Policy: retry.Policy{MaxAttempts: 3, Interval: 5 * time.Second,
			Rate: 2.5, MaxDelay: 5 * time.Minute, Jitter: "PARTIAL"}},
		{Name: "minimal", Use: "configuration errors", Policy: retry.Policy{MaxAttempts: 2, Interval: 2 * time.Second,
			Rate: 1.5, MaxDelay: 10 * time.Second, Jitter: "NONE"}},
		{Name: "database_optimized", Use: "database connections", Policy: retry.Policy{MaxAttempts: 4,
			Interval: 2 * time.Second, Rate: 1.8, MaxDelay: 30 * time.Second, Jitter: "FULL"}},
		{Name: "paced", Use: "work deferred on purpose", Policy: retry.Policy{MaxAttempts: 20, // an addition
			Interval: 30 * time.Second, Rate: 1.5, MaxDelay: 5 * time.Minute, Jitter: "FULL"}},
		{Name: "brief", Use: "work deferred for a moment", Policy: retry.Policy{MaxAttempts: 2, // an addition
			Interval: 3 * time.Second, Rate: 2, MaxDelay: 6 * time.Second, Jitter: "FULL"}},
	}
	got := rp.Patterns()
	if len(got) != len(want) {
		t.Fatalf("%d patterns, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("pattern %d is %+v, want %+v", i, got[i], want[i])
		}
		if named, ok := rp.PatternNamed(want[i].Name); !ok || named != want[i] {
			t.Errorf("PatternNamed(%s) = %v, %v", want[i].Name, named, ok)
		}
	}
	if _, ok := rp.PatternNamed("reckless"); ok {
		t.Error("a pattern nobody defined was found")
	}
}

func TestErrorMapHoldsTheSourcesRows(t *testing.T) {
	t.Parallel()
	want := []struct {
		err     string
		pattern rp.PatternName
	}{
		{"Lambda.ServiceException", "aggressive"},
		{"Lambda.AWSLambdaException", "aggressive"},
		{"Lambda.SdkClientException", "aggressive"},
		{"Lambda.TooManyRequestsException", "conservative"},
		{"Lambda.ThrottledException", "conservative"},
		{"DatabaseConnectionError", "database_optimized"},
		{"AuroraTemporaryError", "database_optimized"},
		{"DeadlockException", "database_optimized"},
		{"ConcurrentModificationException", "aggressive"},
		{"TimeoutError", "conservative"},
		{"ConnectionTimeoutError", "conservative"},
		{"SocketTimeoutError", "conservative"},
		{"States.TaskFailed", "minimal"},
		{"States.Timeout", "minimal"},
		{"States.ExecutionLimitExceeded", "minimal"},
		{"S3.SlowDown", "conservative"},
		{"S3.ServiceUnavailable", "aggressive"},
		{"S3.InternalError", "aggressive"},
	}
	got := rp.ErrorPatterns()
	seen := map[string]bool{}
	for i, row := range got {
		if fromSource := i < len(want); fromSource != (row.Provenance == rp.FromDesign) {
			t.Errorf("row %d (%s) has provenance %s", i, row.Error, row.Provenance)
		}
		if i < len(want) && (row.Error != want[i].err || row.Pattern != want[i].pattern) {
			t.Errorf("row %d is %s → %s, want %v", i, row.Error, row.Pattern, want[i])
		}
		if seen[row.Error] || retry.IsPermanent(row.Error) {
			t.Errorf("%s is listed twice, or is permanent too", row.Error)
		}
		seen[row.Error] = true
		if p, ok := rp.PatternFor(row.Error); !ok || p.Name != row.Pattern {
			t.Errorf("PatternFor(%s) = %v, %v", row.Error, p, ok)
		}
	}
	if _, ok := rp.PatternFor(retry.ValidationError); ok {
		t.Error("a permanent error has a retry pattern")
	}
}

func TestTablesAreHandedOutAsCopies(t *testing.T) {
	t.Parallel()
	rp.Patterns()[0].Policy.MaxAttempts = 99
	rp.ErrorPatterns()[0].Pattern = rp.Minimal
	retry.PermanentErrors()[0] = "x"
	retry.Presets()[0].Name = "x"
	if got := rp.Patterns()[0].Policy.MaxAttempts; got != 5 {
		t.Errorf("patterns changed from outside: %d", got)
	}
	if p, _ := rp.PatternFor("Lambda.ServiceException"); p.Name != rp.Aggressive {
		t.Error("the error map changed from outside")
	}
	if retry.PermanentErrors()[0] != "ValidationError" || retry.Presets()[0].Name != "interactive" {
		t.Error("a list changed from outside")
	}
}

func TestStringForms(t *testing.T) {
	t.Parallel()
	pattern, _ := rp.PatternNamed(rp.Minimal)
	if got, want := pattern.String(), "minimal (configuration errors): 2 retries, 2s ×1.5 up to 10s, jitter NONE"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	uncapped := retry.Policy{MaxAttempts: 1, Interval: time.Second, Rate: 2, Jitter: retry.JitterProportional,
		JitterFactor: 0.2}
	if got, want := uncapped.String(), "1 retry, 1s ×2 without a cap, jitter PROPORTIONAL 0.2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (retry.Policy{}).String(); got != "no retry" {
		t.Errorf("got %q", got)
	}
}

func TestScheduleOfThePatterns(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	tests := []struct {
		pattern rp.PatternName
		longest []time.Duration
		total   retry.Wait
	}{
		{rp.Aggressive, []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms},
			retry.Wait{Min: 0, Mean: 15500 * ms, Max: 31000 * ms}},
		{rp.Conservative, []time.Duration{5000 * ms, 12500 * ms, 31250 * ms},
			retry.Wait{Min: 24375 * ms, Mean: 36562500 * time.Microsecond, Max: 48750 * ms}},
		{rp.Minimal, []time.Duration{2000 * ms, 3000 * ms},
			retry.Wait{Min: 5000 * ms, Mean: 5000 * ms, Max: 5000 * ms}},
		{rp.DatabaseOptimized, []time.Duration{2000 * ms, 3600 * ms, 6480 * ms, 11664 * ms},
			retry.Wait{Min: 0, Mean: 11872 * ms, Max: 23744 * ms}},
	}
	for _, tt := range tests {
		pattern, _ := rp.PatternNamed(tt.pattern)
		s := pattern.Policy.Schedule()
		var longest []time.Duration
		for _, w := range s.Waits {
			longest = append(longest, w.Max)
		}
		if !slices.Equal(longest, tt.longest) || s.Total != tt.total || s.Retries != len(tt.longest) {
			t.Errorf("%s: %v, total %v, want %v, %v", tt.pattern, longest, s.Total, tt.longest, tt.total)
		}
	}
}
