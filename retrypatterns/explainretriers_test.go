package retrypatterns_test

import (
	"testing"
	"time"

	"stepback/retry"
	rp "stepback/retrypatterns"
)

func TestExplainRetriers(t *testing.T) {
	t.Parallel()
	e := rp.ExplainRetriers("Charge", 30*time.Second, 0, []rp.Retrier{
		{ErrorEquals: []string{"Busy"}, IntervalSeconds: 2, MaxAttempts: 3, BackoffRate: 2},
		{ErrorEquals: []string{"States.ALL"}, IntervalSeconds: 1, MaxAttempts: 2, BackoffRate: 2, JitterStrategy: retry.JitterFull},
	})
	want := retry.Wait{Min: 14 * time.Second, Mean: 15500 * time.Millisecond, Max: 17 * time.Second}
	if e.Retries != 5 || e.Wait != want || e.Longest != 6*30*time.Second+17*time.Second || len(e.Retriers) != 2 ||
		e.Retriers[1].Retrier.JitterStrategy != retry.JitterFull {
		t.Errorf("%+v", e)
	}
}
