package graph

import (
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// advances returns the widths of the printable ASCII characters at size 1.
var advances = sync.OnceValue(func() (table [128]float64) {
	for i := range table {
		table[i] = 0.6
	}
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return table // cannot happen: the font is embedded
	}
	const size = 100
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return table
	}
	for r := ' '; r < 127; r++ {
		if a, ok := face.GlyphAdvance(r); ok {
			table[r] = float64(a) / 64 / size
		}
	}
	return table
})

// wider is the maximum factor by which a reader's font may be wider than the font used for measuring.
const wider = 1.1

// textWidth returns the approximate width of text at a font size; wide characters count as a square.
func textWidth(s string, size float64) float64 {
	table := advances()
	w := 0.0
	for _, r := range s {
		switch {
		case r >= 0 && int(r) < len(table):
			w += table[r] //nolint:gosec // r is below its length
		case r < 0x1100:
			w += 0.6
		default:
			w++
		}
	}
	return w * size * wider
}

// fit cuts text to a width.
func fit(s string, size, width float64) string {
	if textWidth(s, size) <= width+0.5 {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && textWidth(string(runes)+"…", size) > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// clip cuts text to a number of characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
