package render

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"

	"stepback/retrymetrics/metricmath"
)

// chart draws one time series widget into a box of w × h pixels, below the widget's title.
type chart struct {
	out    io.Writer
	w, h   float64
	grid   metricmath.Grid
	lines  []line
	marks  []mark
	unit   string
	top    float64 // the highest value of the axis
	bottom float64
	legend float64 // its height
}

const (
	marginLeft, marginRight, marginTop, axisHeight = 46.0, 12.0, 6.0, 20.0
	legendLine                                     = 15.0
	letter                                         = 6.3 // about the width of a letter of the legend
)

func (w widget) chart(out io.Writer, lines []line, g metricmath.Grid, width, height float64) {
	c := chart{out: out, w: width, h: height, grid: g, lines: lines, marks: w.Properties.Annotations.Horizontal, unit: w.Properties.YAxis.Left.Label}
	var drawn []line
	for _, l := range lines {
		if !l.values.Empty() {
			drawn = append(drawn, l)
		}
	}
	c.scale(drawn, w.Properties)
	c.layOutLegend(false)
	c.axes()
	for _, m := range c.marks {
		y := c.y(m.Value)
		fmt.Fprintf(out, `<line class="mark" x1="%.0f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="small" x="%.1f" y="%.1f" text-anchor="end">%s</text>`,
			marginLeft, c.w-marginRight, y, y, c.w-marginRight-2, y-3, html.EscapeString(m.Label))
	}
	switch {
	case len(drawn) == 0:
		fmt.Fprintf(out, `<text class="none" x="%.1f" y="%.1f" text-anchor="middle">no data</text>`, (c.w+marginLeft)/2, c.floor()/2)
	case w.Properties.Stacked:
		c.bars(drawn)
	default:
		for _, l := range drawn {
			c.curve(l)
		}
	}
	c.layOutLegend(true)
}

// scale fits the vertical axis to what is drawn.
func (c *chart) scale(drawn []line, p properties) {
	highest := 0.0
	for i := range c.grid.Len {
		sum := 0.0
		for _, l := range drawn {
			if v := l.values[i]; !math.IsNaN(v) {
				sum += v
				highest = max(highest, v)
			}
		}
		if p.Stacked {
			highest = max(highest, sum)
		}
	}
	for _, m := range c.marks {
		highest = max(highest, m.Value)
	}
	if c.top = nice(highest); p.YAxis.Left.Max != nil {
		c.top = *p.YAxis.Left.Max
	}
	if p.YAxis.Left.Min != nil {
		c.bottom = *p.YAxis.Left.Min
	}
	if c.top <= c.bottom {
		c.top = c.bottom + 1
	}
}

// nice is the smallest of 1, 1.2, 1.6, 2, 3, 4, 6, 8 × 10ⁿ that is not below v: each divides well by four.
func nice(v float64) float64 {
	if v <= 0 {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 1.2, 1.6, 2, 3, 4, 6, 8} {
		if v <= f*base {
			return f * base
		}
	}
	return 10 * base
}

func (c *chart) floor() float64 { return c.h - axisHeight - c.legend }

func (c *chart) y(v float64) float64 {
	return c.floor() - (v-c.bottom)/(c.top-c.bottom)*(c.floor()-marginTop)
}

// x is the middle of a period.
func (c *chart) x(i int) float64 {
	return marginLeft + (float64(i)+0.5)*c.step()
}

func (c *chart) step() float64 { return (c.w - marginLeft - marginRight) / float64(c.grid.Len) }

func (c *chart) axes() {
	const ticks = 4
	for i := range ticks + 1 {
		v := c.bottom + (c.top-c.bottom)*float64(i)/ticks
		fmt.Fprintf(c.out, `<line class="grid" x1="%.0f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="small" x="%.0f" y="%.1f" text-anchor="end">%s</text>`,
			marginLeft, c.w-marginRight, c.y(v), c.y(v), marginLeft-5, c.y(v)+3.5, short(v))
	}
	format := "15:04"
	if c.grid.Period.Seconds() < 60 {
		format = "15:04:05"
	}
	if c.grid.Period.Hours() >= 1 {
		format = "2 Jan 15:04"
	}
	labels := min(c.grid.Len, max(2, int(c.w/130)))
	for n := range labels {
		i := 0
		if labels > 1 {
			i = n * (c.grid.Len - 1) / (labels - 1)
		}
		anchor := "middle"
		if n == labels-1 && labels > 1 {
			anchor = "end"
		}
		fmt.Fprintf(c.out, `<text class="small" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, min(c.x(i)+letter*2, c.w-2), c.floor()+14, anchor, c.grid.At(i).Format(format))
	}
}

// curve draws a line through the periods that have a value, and each of these as a dot where there is room.
func (c *chart) curve(l line) {
	var path strings.Builder
	var dots strings.Builder
	for i, v := range l.values {
		if math.IsNaN(v) {
			continue
		}
		x, y := c.x(i), c.y(min(max(v, c.bottom), c.top))
		fmt.Fprintf(&path, " %.1f,%.1f", x, y)
		if c.step() > 5 {
			fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="2.2"><title>%s %s: %s</title></circle>`,
				x, y, c.grid.At(i).Format("15:04:05"), html.EscapeString(l.label), short(v))
		}
	}
	fmt.Fprintf(c.out, `<g stroke="%s" fill="%[1]s"><polyline fill="none" stroke-width="1.6" points="%s"/>%s</g>`, html.EscapeString(l.color), strings.TrimSpace(path.String()), dots.String())
}

// bars draws lines on top of each other.
func (c *chart) bars(lines []line) {
	sums := make([]float64, c.grid.Len)
	width := min(max(1, c.step()*0.8), 60)
	for _, l := range lines {
		fmt.Fprintf(c.out, `<g fill="%s">`, html.EscapeString(l.color))
		for i, v := range l.values {
			if math.IsNaN(v) || v <= 0 {
				continue
			}
			low := sums[i]
			sums[i] += v
			fmt.Fprintf(c.out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s %s: %s</title></rect>`,
				c.x(i)-width/2, c.y(sums[i]), width, c.y(low)-c.y(sums[i]), c.grid.At(i).Format("15:04:05"), html.EscapeString(l.label), short(v))
		}
		fmt.Fprint(c.out, `</g>`)
	}
}

// layOutLegend finds the legend's height, or draws it.
func (c *chart) layOutLegend(draw bool) {
	x, y := marginLeft, legendLine
	for _, l := range c.lines {
		label := l.label
		if room := int((c.w-marginLeft)/letter) - 4; len(label) > room && room > 1 {
			label = strings.ToValidUTF8(label[:room-1], "") + "…"
		}
		width := 18 + letter*float64(len([]rune(label)))
		if x > marginLeft && x+width > c.w {
			x, y = marginLeft, y+legendLine
		}
		if draw {
			base := c.h - c.legend + y - 4
			fmt.Fprintf(c.out, `<rect x="%.1f" y="%.1f" width="9" height="9" rx="2" fill="%s"/><text class="small" x="%.1f" y="%.1f">%s</text>`,
				x, base-8, html.EscapeString(l.color), x+13, base, html.EscapeString(label))
		}
		x += width + 4
	}
	if c.legend = y; len(c.lines) == 0 {
		c.legend = 0
	}
}

// short writes a number in three significant digits or, from a thousand, in whole ones.
func short(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "–"
	case a >= 10e6:
		return strconv.FormatFloat(v/1e6, 'f', -1, 64) + "M"
	case a >= 10e3:
		return strconv.FormatFloat(math.Round(v/100)/10, 'f', -1, 64) + "k"
	case a >= 1e3:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}
