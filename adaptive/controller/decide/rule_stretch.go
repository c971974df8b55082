package decide

import (
	"math"
	"time"
)

// stretch implements R-stretch: an outage that has lasted for some time is expected to last as long again, so the
// mean total wait of a retrier should be as long. It is bounded by eight times the base, and by the state machine's
// timeout.
func (n *next) stretch() {
	if n.w.failed().Low() < n.Stretch {
		return
	}
	spell := n.m.spell(n.Calm)
	factor := 1.0
	shortest := time.Duration(math.MaxInt64)
	base := n.want
	base.Stretch = 1
	for _, r := range base.Apply(n.Base) {
		if !adjustable(r) {
			continue
		}
		if mean := meanWait(r); mean > 0 && mean < shortest {
			shortest = mean
			factor = float64(spell) / float64(mean)
		}
	}
	factor = min(math.Ceil(4*factor)/4, MaxStretch)
	for ; factor > 1 && !n.fits(factor); factor -= 0.25 {
	}
	// A small improvement does not justify a change.
	if factor < 1.5*n.want.Stretch {
		return
	}
	n.want.Stretch = factor
	n.d.because("R-stretch", "the outage has lasted %s; to reach as far, waits are %g times the base's", spell, factor)
}

// fits reports whether all attempts and waits at their maximum end before the state machine's timeout.
func (n *next) fits(factor float64) bool {
	if n.MachineTimeout == 0 {
		return true
	}
	s := n.want
	s.Stretch = factor
	total := n.Timeout
	for _, r := range s.Apply(n.Base) {
		total += n.Timeout*time.Duration(min(r.MaxAttempts, 1000)) + min(longest(r), 400*24*time.Hour)
		if total > n.MachineTimeout || total < 0 {
			return false
		}
	}
	return true
}
