package budget

import (
	"time"

	"stepback/adaptive/internal/sliding"
)

// Throttle implements the client-side throttling of the SRE book: every call, including a first attempt, is refused
// with the probability (requests − K × accepts) ÷ (requests + 1), both counted over a window. The zero Throttle has
// counted nothing and refuses nothing. It is a plain value and not safe for concurrent use.
type Throttle struct {
	requests, accepts sliding.Sum
}

// ThrottlePolicy configures a [Throttle].
type ThrottlePolicy struct {
	// K is the number of requests made for each one that the callee accepts; 1 or more, 2 in the book. At 1.1, about
	// one in ten of the requests that the callee can serve is wasted.
	K float64
	// Window is the length of the counting window; at least 10 ns, two minutes in the book.
	Window time.Duration
}

// SRE returns the throttling policy of the SRE book with the given K.
func SRE(k float64) ThrottlePolicy { return ThrottlePolicy{K: max(k, 1), Window: 2 * time.Minute} }

// Refuses returns the probability that the next call is refused, from 0 to below 1.
func (t *Throttle) Refuses(p *ThrottlePolicy, now time.Time) float64 {
	at := now.UnixNano()
	requests := t.requests.Total(int64(p.Window), at)
	return max(0, (requests-p.K*t.accepts.Total(int64(p.Window), at))/(requests+1))
}

// Allow requests permission to make a call; draw is a uniformly distributed number in [0, 1). A refused call counts
// as a request.
func (t *Throttle) Allow(p *ThrottlePolicy, now time.Time, draw float64) bool {
	allowed := draw >= t.Refuses(p, now)
	t.requests.Add(int64(p.Window), now.UnixNano(), 1)
	return allowed
}

// Accepted counts a call that the callee accepted, whatever its response.
func (t *Throttle) Accepted(p *ThrottlePolicy, now time.Time) {
	t.accepts.Add(int64(p.Window), now.UnixNano(), 1)
}
