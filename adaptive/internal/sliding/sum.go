// Package sliding adds numbers up over a window of time that ends now. Its values hold no pointer, read no clock and
// can be copied and stored.
package sliding

// Parts is the number of parts of a window: numbers leave it a tenth at a time.
const Parts = 10

// Sum is a sum over a window. The zero Sum is empty. Its fields are exported to be stored; change it by its methods
// only.
type Sum struct {
	// Width of a part in nanoseconds, Head the number of the newest part counted from the epoch.
	Width, Head int64
	// Parts are what was added, by part number modulo Parts.
	Parts [Parts]float64
}

// Add adds x now, a time in Unix nanoseconds; window is in nanoseconds and at least Parts. A time before one that was
// seen already counts as the newest. A window of another length than before begins an empty sum.
func (s *Sum) Add(window, now int64, x float64) {
	s.advance(window, now)
	s.Parts[s.Head%Parts] += x
}

// Total is the sum over the window that ends now.
func (s *Sum) Total(window, now int64) float64 {
	s.advance(window, now)
	var total float64
	for _, x := range s.Parts {
		total += x
	}
	return total
}

func (s *Sum) advance(window, now int64) {
	width := max(window/Parts, 1)
	head := max(now, 0) / width
	if s.Width != width {
		*s = Sum{Width: width, Head: head}
		return
	}
	for range min(head-s.Head, Parts) {
		s.Head++
		s.Parts[s.Head%Parts] = 0
	}
	s.Head = max(s.Head, head)
}
