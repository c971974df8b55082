package decide

// restore implements R-restore: after two calm windows, and half an hour after the last change, it returns
// everything to the base at once. Only retries that do not pay stay dropped.
func (n *next) restore() {
	restored := Base()
	restored.Pay = n.want.Pay
	if n.want.Equal(restored) || !n.want.Equal(n.d.Before) && !looser(n.d.Before, n.want, n.Base) || !n.calm() {
		return
	}
	if c, rate := n.m.Capacity, n.w.rate()+n.m.Others; c.Saturated && c.PerSecond > 0 && rate > 0.95*c.PerSecond {
		n.d.because("R-restore",
			"calm, but %.3g per second exceed 95 %% of the capacity of %.3g: the base is not restored", rate,
			c.PerSecond)
		return
	}
	n.want = restored
	n.d.because("R-restore", "two calm windows, at most %.1f %% of the attempts fail by load: back to the base",
		100*n.w.failed().High())
}
