package decide

import (
	"stepback/retrypatterns"

	"stepback/retry"
)

type retrier = retrypatterns.Retrier

// through is the share of tasks (lower bound) that end well despite failing attempts, from which R-cap leaves the
// retries alone: they do what they are for. In an overload that retries keep alive, hardly any task ends well.
const through = 0.9

// cap implements R-cap: with evidence of overload, it allows the largest number m of retries that the callee's
// capacity C covers if every attempt keeps failing as often as now. That is λ·(1 + p + p² + … + pᵐ) ≤ C, with p at
// its upper bound and λ the first attempts of all states that call the callee. It may leave no retry: tasks that fail
// then end, and are redriven when the callee has recovered. It only cuts; R-restore reverts it.
func (n *next) cap() {
	most := mostRetries(n.Base)
	evidence := n.w.overloaded().Low()
	if n.Closed || most == 0 || evidence < n.Overload {
		return
	}
	if done := n.w.done(); done.Low() >= through {
		n.d.because("R-cap", "at least %.0f %% of the attempts are overload, but %.1f %% of the tasks succeed", 100*evidence,
			100*done.Rate())
		return
	}
	c, rate := n.m.Capacity.PerSecond, n.w.rate()+n.m.Others
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
	if retries == 0 && !hasPaced(n.Base) {
		n.d.because("R-cap", "no retrier on %s paces refused calls: tasks that fail until the base is restored end; redrive them then",
			retry.CircuitOpen)
	}
}
