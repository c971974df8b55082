package simulation

const (
	// tippedShare is the share of the arrivals below which a bin is bad.
	tippedShare = 0.5
	// tippedBins is the number of consecutive bad bins after which the callee has tipped over. At the end of the
	// duration, recoveryBins are enough.
	tippedBins = 30
)

// window is the time of a fault; to is 0 while it lasts.
type window struct{ from, to int64 }

// overlaps reports whether the window and the time from start to end have a common part.
func (w window) overlaps(start, end int64) bool { return w.from < end && (w.to == 0 || w.to > start) }

// tippedOver computes [Result.TippedOver].
func (r *run) tippedOver() bool {
	m := &r.measure
	if !r.hasStream() {
		return m.offeredCount > 0 && float64(m.doneCount) < tippedShare*float64(m.offeredCount)
	}
	bad, first := 0, 0
	width := int64(BinWidth)
	last := int(m.duration / width)
	for i := int((m.warmup + width - 1) / width); i < last && i < len(m.bins); i++ {
		start, end := int64(i)*width, int64(i+1)*width
		for first < len(m.faulty) && m.faulty[first].to != 0 && m.faulty[first].to <= start {
			first++
		}
		wrong := false
		for _, w := range m.faulty[first:] {
			wrong = wrong || w.overlaps(start, end)
		}
		b := m.bins[i]
		if wrong || b.Offered == 0 || float64(b.Done) >= tippedShare*float64(b.Offered) {
			bad = 0
			continue
		}
		if bad++; bad == tippedBins {
			return true
		}
	}
	return bad >= recoveryBins
}
