package document

import (
	"slices"
	"sort"
	"strings"

	"stepback/asl/source"
)

// mapping records the origin of each piece of a text. The pieces are in order. Text between two pieces belongs to
// the next one; such text is JSON punctuation generated from YAML. The nil mapping is the identity.
type mapping []piece

// piece maps a part of a text to its origin in another text.
type piece struct {
	at, from source.Span
	same     bool     // both parts are the same text
	open     []string // the names of placeholders without a value, of which the part consists, or which it stands for
}

func (m mapping) isIdentity() bool { return m == nil }

// origin returns the span of the other text from which span s of this text came.
func (m mapping) origin(s source.Span) source.Span {
	if m == nil {
		return s
	}
	start := m.piece(s.Start)
	from := start.from.Start
	if start.same {
		from += max(0, s.Start-start.at.Start)
	}
	end := m.last(s.End)
	to := end.from.End
	if end.same {
		to = end.from.Start + min(s.End, end.at.End) - end.at.Start
	}
	return source.Span{Start: from, End: max(from, to)}
}

// openIn returns the names of the placeholders without a value that a span involves: it is one, is inside one, or
// contains some.
func (m mapping) openIn(s source.Span) []string {
	var open []string
	for i := m.index(s.Start); i < len(m) && m[i].at.Start < max(s.End, s.Start+1); i++ {
		if m[i].at.End > s.Start {
			open = append(open, m[i].open...)
		}
	}
	return open
}

// isOpen reports whether a span involves a placeholder without a value.
func (m mapping) isOpen(s source.Span) bool { return len(m.openIn(s)) > 0 }

// index returns the index of the piece that contains an offset, or of the next piece.
func (m mapping) index(offset int) int {
	return sort.Search(len(m), func(i int) bool { return m[i].at.End > offset })
}

// piece returns the piece that contains an offset, or the next one, or the last one if there is none.
func (m mapping) piece(offset int) piece {
	if len(m) == 0 {
		return piece{}
	}
	return m[min(m.index(offset), len(m)-1)]
}

// last returns the last piece that begins before an offset.
func (m mapping) last(offset int) piece {
	i := sort.Search(len(m), func(i int) bool { return m[i].at.Start >= offset })
	if len(m) == 0 {
		return piece{}
	}
	return m[max(0, i-1)]
}

// over composes two mappings: m maps to a text that below maps to its own origin.
func (m mapping) over(below mapping) mapping {
	switch {
	case m == nil:
		return below
	case below == nil:
		return m
	}
	joined := make(mapping, 0, len(m))
	for _, p := range m {
		joined = p.over(below, joined)
	}
	return joined
}

// over appends the parts into which below divides a piece. A part of copied text is divided, so that every character
// keeps its own origin; a part of generated text is not.
func (p piece) over(below mapping, joined mapping) mapping {
	if !p.same {
		return append(joined, piece{at: p.at, from: below.origin(p.from),
			open: slices.Concat(p.open, below.openIn(p.from))})
	}
	for i := below.index(p.from.Start); i < len(below) && below[i].at.Start < p.from.End; i++ {
		b := below[i]
		start, end := max(b.at.Start, p.from.Start), min(b.at.End, p.from.End)
		part := piece{at: source.Span{Start: p.at.Start + start - p.from.Start, End: p.at.Start + end - p.from.Start},
			from: b.from, same: b.same, open: slices.Concat(p.open, b.open)}
		if b.same {
			part.from = source.Span{Start: b.from.Start + start - b.at.Start, End: b.from.Start + end - b.at.Start}
		}
		joined = append(joined, part)
	}
	return joined
}

// rewriter copies a text with replacements and records where each part came from.
type rewriter struct {
	text   string
	done   int // offset up to which the text has been written
	out    strings.Builder
	places mapping
	odd    bool // something was replaced, or is open
	forget bool // do not record where each part came from
}

// copy writes the text unchanged, up to an offset.
func (w *rewriter) copy(to int) { w.write(to, w.text[w.done:to], true, nil) }

// replace writes with in place of the original text up to an offset. open names the placeholders without a value that
// with stands for.
func (w *rewriter) replace(to int, with string, open []string) {
	w.odd = true
	w.write(to, with, with == w.text[w.done:to], open)
}

func (w *rewriter) write(to int, text string, same bool, open []string) {
	if to == w.done && text == "" {
		return
	}
	at := w.out.Len()
	w.out.WriteString(text)
	if !w.forget {
		w.places = append(w.places, piece{source.Span{Start: at, End: w.out.Len()}, source.Span{Start: w.done, End: to},
			same, open})
	}
	w.done = to
}

// result returns the new text with its mapping.
func (w *rewriter) result() (string, mapping) {
	w.copy(len(w.text))
	if !w.odd {
		return w.text, nil
	}
	return w.out.String(), w.places
}
