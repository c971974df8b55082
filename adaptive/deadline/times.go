package deadline

import (
	"math"
	"math/bits"
	"time"
)

// Times counts the durations of calls in buckets, eight for each doubling. It covers two spans of a thousand calls
// each, and drops older calls. The zero Times has counted nothing. It is a plain value that holds no pointer; it is
// not safe for concurrent use.
type Times struct {
	count   [2][buckets]uint16
	total   [2]uint16
	current uint8
}

// span is the number of calls in each half. When the current half is full, the older one is dropped.
const span = 1000

// perDoubling is the number of buckets for each doubling of the time; the first bucket ends at a microsecond.
const (
	perDoubling = 8
	buckets     = 32 * perDoubling // up to 2³² µs, a little more than an hour
)

// Add counts a call; a negative time counts as 0.
func (t *Times) Add(d time.Duration) {
	if t.total[t.current] == span {
		t.current = 1 - t.current
		t.count[t.current], t.total[t.current] = [buckets]uint16{}, 0
	}
	t.count[t.current][bucket(d)]++
	t.total[t.current]++
}

// Count returns the number of calls counted; at most 2,000.
func (t *Times) Count() int { return int(t.total[0]) + int(t.total[1]) }

// Quantile returns a time within which the share q of the calls ended. It is the upper border of the bucket, so at
// most a ninth too long. It returns 0 if no calls were counted. q is clamped to 0 to 1.
func (t *Times) Quantile(q float64) time.Duration {
	n := t.Count()
	if n == 0 {
		return 0
	}
	if math.IsNaN(q) {
		q = 1
	}
	rank := max(int(math.Ceil(min(max(q, 0), 1)*float64(n))), 1)
	for i := range buckets {
		if rank -= int(t.count[0][i]) + int(t.count[1][i]); rank <= 0 {
			return border(i)
		}
	}
	return border(buckets - 1)
}

// bucket returns the index of a time's bucket: the first one whose border exceeds the time, rounded up to
// microseconds.
func bucket(d time.Duration) int {
	us := uint64((max(d, 1)-1)/time.Microsecond) + 1
	doubling := bits.Len64(us) - 1
	// Linear steps within a doubling, as in an HDR histogram.
	step := int(((us << 6) >> doubling) & 63 / (64 / perDoubling))
	return min(doubling*perDoubling+step, buckets-1)
}

// border returns the upper border of a bucket.
func border(i int) time.Duration {
	low := uint64(time.Microsecond) << (i / perDoubling)
	return time.Duration(low + low/perDoubling*uint64(i%perDoubling+1))
}
