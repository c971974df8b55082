package decide

import (
	"stepback/retrypatterns"

	"stepback/retry"
)

type retrier = retrypatterns.Retrier

// cap implements R-cap: with evidence of overload, it allows the largest number m of retries that the callee's
// capacity C covers if every attempt keeps failing as often as now. That is λ·(1 + p + p² + … + pᵐ) ≤ C, with p at
// its upper bound. It only cuts; R-restore reverts it.
func (n *next) cap() {
	most := mostRetries(n.Base)
	evidence := n.w.overloaded().Low()
	if n.Closed || most == 0 || evidence < n.Overload {
		return
	}
	c, rate := n.m.Capacity.PerSecond, n.w.rate()
	if c <= 0 || rate <= 0 {
		n.d.because("R-cap",
			"at least %.0f %% of the attempts are overload, and the callee's capacity is not known; set it",
			100*evidence)
		return
	}
	p := n.w.failed().High()
	retries, calls := 0, rate
	for power := p; retries < most && calls+rate*power <= c; power *= p {
		calls += rate * power
		retries++
	}
	if retries == 0 && !hasPaced(n.Base) {
		// Without a retrier that brings refused work back, allowing no retries at all would lose that work.
		retries = 1
		n.d.because("R-cap", "not to 0 retries, because no retrier on %s paces refused calls", retry.CircuitOpen)
	}
	if have := n.want.Retries; retries >= most || have != Unlimited && have <= retries {
		return
	}
	n.want.Retries = retries
	n.d.because(
		"R-cap",
		"at least %.0f %% of the attempts are overload: %.3g a second at a failure rate of %.0f %% fit a capacity of %.3g with %d retries",
		100*evidence,
		rate,
		100*p,
		c,
		retries,
	)
}
