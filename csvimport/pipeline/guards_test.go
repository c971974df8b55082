package pipeline

import (
	"testing"
	"time"

	"stepback/adaptive/limiter"
	adaptive "stepback/adaptive/shared"
)

// Calls to a healthy callee are not refused: 80 calls took five seconds each, end within one second, and all succeed.
func TestCallsOfACalleeThatIsWellAreNotRefused(t *testing.T) {
	t.Parallel()
	for calls, limit := range map[int]float64{1: 20, 80: 640, 640: 1000} {
		p := newGuards(time.Now, calls, nil).policies()
		if p.Limiter.Initial != limit {
			t.Errorf("of %d calls at a time, the limit is %v at first, want %v", calls, p.Limiter.Initial, limit)
		}
		var r adaptive.Record
		r = r.Advance(&p, limiter.Tally{Asked: 80, Admitted: 80, Successes: 80, Busy: 80 * 5 * time.Second}, time.Now())
		if got := r.Share(&p); calls >= 80 && got != 1 {
			t.Errorf("of %d calls at a time, a share of %v is admitted", calls, got)
		}
	}
}
