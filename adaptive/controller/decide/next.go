package decide

import (
	"time"
)

// Next decides about one state. It changes none of its arguments and never panics; if an argument is invalid, the
// verdict is Unknown with the reason.
func Next(s Subject, p Parameters, mem Memory, m Measurement) Decision {
	n := &next{Subject: s, Parameters: p, mem: mem, m: m, now: m.Now}
	n.d = Decision{
		State:   s.State,
		At:      m.Now,
		Verdict: Unknown,
		Before:  mem.current(),
		Setting: mem.current(),
		watch:   mem.Watch,
	}
	if n.usable() {
		n.d.Verdict = Keep
		n.decide()
	}
	if n.d.Verdict == ChangeRetry {
		n.d.Retry = n.d.Setting.Apply(s.Base)
	}
	return n.d
}

// next holds the state of one decision while it is made.
type next struct {
	Subject
	Parameters
	mem  Memory
	m    Measurement
	now  time.Time
	w    window
	want Setting
	d    Decision
}

// usable reports whether the measurement supports a decision. If not, it adds the reason.
func (n *next) usable() bool {
	if err := n.Subject.Validate(); err != nil {
		n.d.because("guard", "%v", err)
		return false
	}
	if err := n.Parameters.Validate(); err != nil {
		n.d.because("guard", "%v", err)
		return false
	}
	if text := n.m.problem(); text != "" {
		n.d.because("guard", "%s", text)
		return false
	}
	if !n.now.After(n.mem.Seen) && n.mem.Seen.Sub(n.now) < setBack {
		n.d.because("guard", "this measurement is of %s, but one of %s was already used",
			n.now.UTC().Format(time.RFC3339), n.mem.Seen.UTC().Format(time.RFC3339))
		n.d.At = n.mem.Seen
		return false
	}
	n.w = n.m.window(0)
	if text := n.w.problem(); text != "" {
		n.d.because("guard", "%s", text)
		return false
	}
	return true
}

// decide applies the rules in order.
func (n *next) decide() {
	if n.now.Before(n.mem.PausedUntil) && n.mem.PausedUntil.Sub(n.now) <= n.Pause {
		n.d.because("watch", "paused until %s after a roll-back", n.mem.PausedUntil.UTC().Format(time.RFC3339))
		return
	}
	if n.judge() {
		return
	}
	if n.m.MapRun != nil && n.mapRun() {
		return
	}
	n.want = n.d.Before
	n.expirePay()
	if n.Rules == SourceRules {
		n.source()
	} else {
		n.cap()
		n.stretch()
	}
	n.pay()
	n.restore()
	n.propose()
}

// propose turns the setting that the rules want into a change, if the guards allow it.
func (n *next) propose() {
	n.want = n.want.within()
	if n.want.Equal(n.d.Before) {
		if len(n.d.Reasons) == 0 {
			n.d.because("guard", "nothing to change: %.1f %% of %.0f attempts failed by load", 100*n.w.failed().Rate(),
				n.w.Attempts)
		}
		return
	}
	direction := Cut
	if looser(n.d.Before, n.want, n.Base) {
		direction = Restore
	}
	if !n.may(direction) {
		return
	}
	n.d.Verdict, n.d.Direction, n.d.Setting = ChangeRetry, direction, n.want
	n.d.watch = nil
	if direction == Restore {
		return // back to what was deployed: there is nothing better to roll back to
	}
	until := n.now.Add(n.WatchFor)
	if n.mem.last().Direction == Restore {
		until = until.Add(n.ReversalDwell) // a roll-back has to wait this long
	}
	n.d.watch = n.watch(until)
}

// looser reports whether after allows more calls than before, or the same number with shorter waits.
func looser(before, after Setting, base []retrier) bool {
	count := func(s Setting) (retries int, wait time.Duration) {
		for _, r := range s.Apply(base) {
			retries += r.MaxAttempts
			wait += meanWait(r)
		}
		return retries, wait
	}
	r0, w0 := count(before)
	r1, w1 := count(after)
	return r1 > r0 || r1 == r0 && w1 < w0
}

// setBack is the smallest step back that means that the clock was set back. A smaller one means that a measurement is
// older than the last one that was used.
const setBack = time.Hour

// within reports whether at is less than d ago. A time that is more than d ahead was noted before the clock was set
// back.
func (n *next) within(at time.Time, d time.Duration) bool {
	since := n.now.Sub(at)
	return since < d && since > -d
}

// may reports whether the guards allow a change in this direction now, and adds the reason if not.
func (n *next) may(direction Direction) bool {
	dwell, what := n.CutDwell, "cut"
	if direction == Restore {
		dwell, what = n.RestoreDwell, "restore"
	}
	if last := n.mem.last(); last.Direction != 0 && n.within(last.At, dwell) {
		n.d.because("guard", "a %s waits until %s after the last change", what, dwell)
		return false
	}
	return n.bounded(direction)
}

// bounded checks the guards that also apply to roll-backs: the number of changes, and the time between reversals.
func (n *next) bounded(direction Direction) bool {
	last := n.mem.last()
	switch {
	case n.mem.recent(n.now) >= n.ChangesAnHour:
		n.d.because("guard", "%d changes within the last hour, which is the maximum", n.ChangesAnHour)
	case last.Direction != 0 && last.Direction != direction && n.within(n.mem.Reversed, n.ReversalDwell):
		n.d.because("guard", "it would be the second reversal within %s", n.ReversalDwell)
	default:
		return true
	}
	return false
}
