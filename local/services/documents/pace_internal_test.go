package documents

import (
	"testing"
	"time"
)

// TestPace checks that the disk pauses only while many clients write.
func TestPace(t *testing.T) {
	t.Parallel()
	var p pace
	now := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		name    string
		passed  time.Duration
		applied int64
		want    time.Duration
	}{
		{"the first", 0, 1, 0},
		{"one client", 2 * time.Millisecond, 5, 0},
		{"many", 2 * time.Millisecond, 20, 300 * time.Microsecond},
		{"within the same millisecond", 100 * time.Microsecond, 0, 300 * time.Microsecond},
		{"fewer", 3 * time.Millisecond, 3, 0},
		{"many after a pause", time.Minute, 1_000_000, 0},
	} {
		now = now.Add(c.passed)
		p.applied.Add(c.applied)
		if got := p.interval(now); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
