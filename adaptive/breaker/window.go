package breaker

import "math/bits"

// slices is the number of slices of a time window: calls leave the window a tenth at a time.
const slices = 10

// window counts the recent calls of a closed circuit, by time or by number. Its zero value is empty.
type window struct {
	requests, failures int64 // within the window

	// These fields hold a window of time.
	width int64 // of a slice, in nanoseconds
	head  int64 // number of the newest slice, counted from the epoch
	time  [slices]slice

	// These fields hold a window of calls. The newest outcome is bit next−1.
	next  uint16
	calls [MaxWindowRequests / 64]uint64 // 1: a failure
}

type slice struct{ Requests, Failures int64 }

// add counts one call that ended now.
func (w *window) add(p *Policy, now int64, failed bool) {
	if failed {
		w.addMany(p, now, 0, 1)
	} else {
		w.addMany(p, now, 1, 0)
	}
}

// advance forgets the slices that have left the window.
func (w *window) advance(p *Policy, now int64) {
	width := int64(p.Window) / slices
	head := max(now, 0) / width
	if w.width != width { // another policy's window, or a new one
		*w = window{width: width, head: head}
		return
	}
	if head < w.head-slices { // the clock was set back
		w.renumber(head)
	}
	for range min(head-w.head, slices) {
		w.head++
		s := &w.time[w.head%slices]
		w.requests -= s.Requests
		w.failures -= s.Failures
		*s = slice{}
	}
	w.head = max(w.head, head)
}

// renumber keeps the slices and makes head the number of the newest one.
func (w *window) renumber(head int64) {
	old := *w
	for i := range int64(slices) {
		w.time[(head-i+slices)%slices] = old.time[(old.head-i)%slices]
	}
	w.head = head
}

// push adds one outcome, and drops the oldest if the window is full.
func (w *window) push(p *Policy, failed bool) {
	size := int64(p.WindowRequests)
	if w.width != -size { // another policy's window, or a new one
		*w = window{width: -size}
	}
	word, bit := &w.calls[w.next/64], uint64(1)<<(w.next%64)
	if w.requests == size {
		if *word&bit != 0 {
			w.failures--
		}
	} else {
		w.requests++
	}
	*word &^= bit
	if failed {
		*word |= bit
		w.failures++
	}
	w.next = uint16((int64(w.next) + 1) % size)
}

// tripped reports whether the window's counts open the circuit.
func (w *window) tripped(p *Policy) bool {
	return p.watches() && w.failures > 0 &&
		w.requests >= int64(p.MinimumRequests) && w.failures >= int64(p.MinimumFailures) &&
		float64(w.failures) >= p.FailureRate*float64(w.requests)
}

// recount computes the sums from the parts, for a window that was decoded.
func (w *window) recount() {
	if w.width > 0 {
		w.requests, w.failures = 0, 0
		for _, s := range w.time {
			w.requests += s.Requests
			w.failures += s.Failures
		}
		return
	}
	w.failures = 0
	for _, word := range w.calls {
		w.failures += int64(bits.OnesCount64(word))
	}
}

// addMany counts calls that ended now. In a window of calls, the successes are added first.
func (w *window) addMany(p *Policy, now int64, successes, failures int64) {
	switch {
	case p.Window > 0:
		w.advance(p, now)
		s := &w.time[w.head%slices] // a clock that runs behind counts into the newest slice
		s.Requests += successes + failures
		s.Failures += failures
		w.requests += successes + failures
		w.failures += failures
	case p.WindowRequests > 0:
		for range min(successes, MaxWindowRequests) {
			w.push(p, false)
		}
		for range min(failures, MaxWindowRequests) {
			w.push(p, true)
		}
	}
}
