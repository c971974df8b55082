package decide

import (
	"maps"
	"slices"
)

// leastEffective is the number of effective retries that R-pay needs.
const leastEffective = 20

// pay implements R-pay. It drops retry k of a retrier, and all retries after it, if retry k costs more than even
// the upper bound of its chance to recover is worth.
func (n *next) pay() {
	limits := map[string]int{}
	for _, r := range n.m.Recoveries {
		if !(r.Started >= leastEffective) || !(r.Succeeded >= 0) || r.Succeeded > r.Started || r.Retry < 1 ||
			!(r.Cost > 0) ||
			!(r.Value >= 0) {
			continue
		}
		if high := (Share{r.Started, r.Succeeded}).High(); high*r.Value < r.Cost {
			if limit, ok := limits[r.Error]; !ok || r.Retry-1 < limit {
				limits[r.Error] = r.Retry - 1
				n.d.because("R-pay",
					"retry %d for %s recovered %.0f of %.0f, at most %.1f %%: worth $%.2g, costs $%.2g", r.Retry,
					r.Error, r.Succeeded, r.Started, 100*high, high*r.Value, r.Cost)
			}
		}
	}
	pay := maps.Clone(n.want.Pay)
	for _, r := range n.Base {
		name := first(r)
		limit, ok := limits[name]
		if have, had := pay[name]; !ok || limit >= r.MaxAttempts || paced(r) || had && have <= limit {
			continue
		}
		if pay == nil {
			pay = map[string]int{}
		}
		pay[name] = limit
		n.d.payUntil = n.now.Add(n.PayFor)
	}
	n.want.Pay = pay
}

// expirePay re-enables retries that were dropped because they did not pay. A retry that is not made yields no new
// measurements.
func (n *next) expirePay() {
	if left := n.mem.PayUntil.Sub(n.now); len(n.want.Pay) > 0 && (left <= 0 || left > n.PayFor) &&
		!slices.ContainsFunc(n.m.Recoveries, func(r Recovery) bool {
			_, dropped := n.want.Pay[r.Error]
			return dropped && r.Started >= leastEffective
		}) {
		n.want.Pay = nil
		n.d.because("R-pay", "dropped retries are tried again after %s", n.PayFor)
	}
}
