// Package sliding sums numbers over a window of time that ends now. Its values hold no pointer, read no clock and can
// be copied and stored.
package sliding

// Parts is the number of parts of a window: numbers leave the window a tenth at a time.
const Parts = 10

// Sum is a sum over a window. The zero Sum is empty. Its fields are exported for storing; change it only through its
// methods.
type Sum struct {
	// Width is the width of a part in nanoseconds. Head is the number of the newest part, counted from the epoch.
	Width, Head int64
	// Parts holds the sums by part number modulo Parts.
	Parts [Parts]float64
}

// Add adds x at the time now, in Unix nanoseconds; window is in nanoseconds and at least Parts. A time earlier than
// one already added counts as the newest; if it is earlier by more than the window, the clock was set back, and the
// numbers added so far leave the window as if they had been added now. A window of a different length than before
// starts an empty sum.
func (s *Sum) Add(window, now int64, x float64) {
	s.advance(window, now)
	s.Parts[s.Head%Parts] += x
}

// Total returns the sum over the window that ends now.
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
	if head < s.Head-Parts {
		old := *s
		for i := range int64(Parts) {
			s.Parts[(head-i+Parts)%Parts] = old.Parts[(old.Head-i)%Parts]
		}
		s.Head = head
	}
	for range min(head-s.Head, Parts) {
		s.Head++
		s.Parts[s.Head%Parts] = 0
	}
	s.Head = max(s.Head, head)
}
