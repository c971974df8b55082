package decide

import "time"

// watch returns the last change with the baseline for judging it. The baseline is the part of the window within the
// spell in which the change was made, or the whole window if there is no spell. Minutes before the spell show the
// state without an outage, and a change cannot be blamed for the outage.
func (n *next) watch(until time.Time) *Watch {
	end := n.now.Add(-Age).Truncate(Minute)
	spell := n.m.spell(n.Overload)
	before := n.w
	during := n.m.between(end.Add(-min(max(spell, Minute), WindowSize*Minute)), end)
	if spell > 0 && during.points > 0 {
		before = during
	}
	return &Watch{At: n.now, Until: until, Back: n.d.Before, Done: before.done(), Failed: before.failed()}
}

// judge evaluates the last change and rolls it back if it is to blame: fewer tasks succeed than before, also in the
// newest minute, while the callee fails no more often than before. If only the newest minute is better, the backlog
// of the overload is still being worked off. judge returns true if it has made the decision.
func (n *next) judge() bool {
	w := n.mem.Watch
	if w == nil {
		return false
	}
	begin := n.now.Add(-Age).Truncate(Minute).Add(-WindowSize * Minute)
	if begin.Before(w.At) {
		return false // the window still holds attempts from before the change
	}
	if !n.now.Before(w.Until) {
		n.d.watch = nil
		return false
	}
	after, before := n.w.done(), w.Done
	if !worse(n.w, w) || !worse(n.newest(), w) {
		return false
	}
	n.d.because("watch",
		"%.1f %% of the tasks succeed, after the change of %s; before it %.1f %% did, and the callee does not fail more often",
		100*after.Rate(), w.At.UTC().Format("15:04"), 100*before.Rate())
	direction := Restore
	if !looser(n.d.Before, w.Back, n.Base) {
		direction = Cut
	}
	// A roll-back does not wait for a dwell time.
	if !n.bounded(direction) {
		return true
	}
	n.d.Verdict, n.d.Direction, n.d.Setting, n.d.RollBack = ChangeRetry, direction, w.Back.within(), true
	n.d.watch, n.d.pausedUntil = nil, n.now.Add(n.Pause)
	n.d.because("watch", "rolled back; paused for %s", n.Pause)
	return true
}

// worse reports whether significantly fewer tasks succeed than before the change, while the callee does not fail
// significantly more often.
func worse(now window, w *Watch) bool {
	return now.done().High() < w.Done.Low() && now.failed().Low() <= w.Failed.High()
}

// newest returns the last measured minute of the window.
func (n *next) newest() window {
	end := n.now.Add(-Age).Truncate(Minute)
	for range WindowSize {
		if last := n.m.between(end.Add(-Minute), end); last.points > 0 {
			return last
		}
		end = end.Add(-Minute)
	}
	return window{}
}
