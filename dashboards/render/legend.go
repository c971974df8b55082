package render

import "fmt"

// entry is an entry of a chart's legend, which names one line of the chart. at is its position in the legend.
type entry struct {
	at           point
	label, color string
}

const (
	legendLine = 15.0
	// legendLines is the most lines of a legend, so that the chart has enough space.
	legendLines = 4
	// legendShare is the part of a chart's width that a legend on its right takes.
	legendShare = 0.3
)

// layOutLegend breaks the legend into lines and shortens labels that are longer than a line.
func (c *chart) layOutLegend() {
	switch c.widget.properties.Legend.Position {
	case "hidden":
		return
	case "right":
		c.legendAtRight()
		return
	}
	left := c.left()
	x, y := left, legendLine
	most := legendLines
	if c.h < 150 {
		most = 1
	}
	for i := range c.lines {
		l := &c.lines[i]
		label := cut(l.Label, int((c.w-left)/letter)-4)
		width := 18 + letter*float64(letters(label))
		if x > left && x+width > c.w {
			x, y = left, y+legendLine
		}
		if y >= float64(most)*legendLine && i < len(c.lines)-1 && (y > legendLine || x > left) {
			c.legend = append(c.legend, entry{point{x, y}, fmt.Sprintf("and %d more", len(c.lines)-i), ""})
			return
		}
		c.legend = append(c.legend, entry{point{x, y}, label, l.Color})
		x += width + 4
	}
}

// legendAtRight places the legend in a column to the right of the chart, which becomes narrower.
func (c *chart) legendAtRight() {
	width := legendShare * c.w
	x, most := c.w-width+10, int((c.h-axisHeight)/legendLine)
	c.w -= width
	for i := range c.lines {
		y := float64(i+1) * legendLine
		if i == most-1 && i < len(c.lines)-1 {
			c.sideLegend = append(c.sideLegend, entry{point{x, y}, fmt.Sprintf("and %d more", len(c.lines)-i), ""})
			return
		}
		c.sideLegend = append(c.sideLegend, entry{point{x, y}, cut(c.lines[i].Label, int((width-24)/letter)),
			c.lines[i].Color})
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
		e.draw(c.on, point{e.at.x, c.h - c.legendHeight() + e.at.y - 4})
	}
	for _, e := range c.sideLegend {
		e.draw(c.on, e.at)
	}
}

// draw writes the entry with its base line at a point.
func (e *entry) draw(on canvas, at point) {
	if e.color != "" {
		on.swatch(point{at.x, at.y - 8}, e.color)
	}
	on.text(point{at.x + 13, at.y}, begins, small, e.label)
}
