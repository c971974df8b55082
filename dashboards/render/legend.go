package render

import "fmt"

// entry is a line of a chart in its legend, with its position there.
type entry struct {
	at           point
	label, color string
}

const (
	legendLine = 15.0
	// legendLines is the most lines of a legend, so that the chart has enough space.
	legendLines = 4
)

// layOutLegend breaks the legend into lines and shortens labels that are longer than a line.
func (c *chart) layOutLegend() {
	x, y := marginLeft, legendLine
	for i, l := range c.lines {
		label := cut(l.label, int((c.w-marginLeft)/letter)-4)
		width := 18 + letter*float64(letters(label))
		if x > marginLeft && x+width > c.w {
			x, y = marginLeft, y+legendLine
		}
		if y >= legendLines*legendLine && i < len(c.lines)-1 {
			c.legend = append(c.legend, entry{point{x, y}, fmt.Sprintf("and %d more", len(c.lines)-i), ""})
			return
		}
		c.legend = append(c.legend, entry{point{x, y}, label, l.color})
		x += width + 4
	}
}

// cut shortens a text to the width of room Latin letters.
func cut(text string, room int) string {
	if letters(text) <= room || room < 2 {
		return text
	}
	width := 1 // of the ellipsis
	for i, r := range text {
		if width += letters(string(r)); width > room {
			return text[:i] + "…"
		}
	}
	return text
}

// letters returns the approximate width of a text in Latin letters: East Asian letters count twice.
func letters(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= firstWide {
			n++
		}
	}
	return n
}

// firstWide is the first code point of the scripts whose letters are as wide as they are high: Hangul, followed by
// kana and Han.
const firstWide = 0x1100

func (c *chart) legendHeight() float64 {
	if len(c.legend) == 0 {
		return 0
	}
	return c.legend[len(c.legend)-1].at.y
}

func (c *chart) drawLegend() {
	for _, e := range c.legend {
		base := c.h - c.legendHeight() + e.at.y - 4
		if e.color != "" {
			c.on.swatch(point{e.at.x, base - 8}, e.color)
		}
		c.on.text(point{e.at.x + 13, base}, begins, small, e.label)
	}
}
