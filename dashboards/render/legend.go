package render

import "fmt"

// entry is one line of a chart in its legend, and where it stands there.
type entry struct {
	at           point
	label, color string
}

const (
	legendLine = 15.0
	// legendLines is how many a legend has at most: the chart needs room, too.
	legendLines = 4
)

// layOutLegend breaks the legend into lines and cuts labels that are longer than one.
func (c *chart) layOutLegend() {
	x, y := marginLeft, legendLine
	for i, l := range c.lines {
		label := []rune(l.label)
		if room := int((c.w-marginLeft)/letter) - 4; len(label) > room && room > 1 {
			label = append(label[:room-1:room-1], '…')
		}
		width := 18 + letter*float64(len(label))
		if x > marginLeft && x+width > c.w {
			x, y = marginLeft, y+legendLine
		}
		if y >= legendLines*legendLine && i < len(c.lines)-1 {
			c.legend = append(c.legend, entry{point{x, y}, fmt.Sprintf("and %d more", len(c.lines)-i), ""})
			return
		}
		c.legend = append(c.legend, entry{point{x, y}, string(label), l.color})
		x += width + 4
	}
}

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
