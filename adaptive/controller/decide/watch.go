package decide

// judge watches the last change: if fewer tasks end well than before, and the callee fails no more often than before,
// then the change is to blame and is taken back. It answers true when it has made the decision.
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
	if !(after.High() < before.Low()) || n.w.failed().Low() > w.Failed.High() {
		return false
	}
	n.d.because(
		"watch",
		"%.1f %% of the tasks end well, before the change of %s it was %.1f %%, and the callee fails no more often",
		100*after.Rate(),
		w.At.UTC().Format("15:04"),
		100*before.Rate(),
	)
	direction := Restore
	if !looser(n.d.Before, w.Back, n.Base) {
		direction = Cut
	}
	// A roll-back waits for no dwell.
	if !n.bounded(direction) {
		return true
	}
	n.d.Verdict, n.d.Direction, n.d.Setting, n.d.RollBack = ChangeRetry, direction, w.Back.within(), true
	n.d.watch, n.d.pausedUntil = nil, n.now.Add(n.Pause)
	n.d.because("watch", "rolled back; paused for %s", n.Pause)
	return true
}
