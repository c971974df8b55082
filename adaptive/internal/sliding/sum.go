// Package sliding sums numbers over a window of time that ends now. Its values hold no pointer, read no clock and can
// be copied and stored.
package sliding

// parts is the number of parts of a window: numbers leave the window a tenth at a time.
const parts = 10

// Sum is a sum over a window. The zero Sum is empty. Its fields are exported for storing; change it only through its
// methods.
type Sum struct {
	// Width is the width of a part in nanoseconds. Head is the number of the newest part, counted from the epoch.
	Width, Head int64
	// parts holds the sums by part number modulo parts.
	Parts [parts]float64
}

// Add adds x at the time now, in Unix nanoseconds; window is in nanoseconds and at least parts. A time earlier than
// one already added counts as the newest; if it is earlier by more than the window, the clock was set back, and the
// numbers added so far leave the window as if they had been added now. A window of a different length than before
// starts an empty sum.
func (s *Sum) Add(window, now int64, x float64) {
	s.advance(window, now)
	s.Parts[s.Head%parts] += x
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
	width := max(window/parts, 1)
	head := max(now, 0) / width
	if s.Width != width {
		*s = Sum{Width: width, Head: head}
		return
	}
	if head < s.Head-parts {
		old := *s
		for i := range int64(parts) {
			s.Parts[(head-i+parts)%parts] = old.Parts[(old.Head-i)%parts]
		}
		s.Head = head
	}
	for range min(head-s.Head, parts) {
		s.Head++
		s.Parts[s.Head%parts] = 0
	}
	s.Head = max(s.Head, head)
}
