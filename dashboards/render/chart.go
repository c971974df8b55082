package render

import (
	"math"
	"slices"
	"strconv"

	"stepback/retrymetrics/metricmath"
)

// chart draws a time series widget into a box of w × h pixels below the widget's title.
type chart struct {
	on          canvas
	w, h        float64
	grid        metricmath.Grid
	lines       []line // all of them, for the legend
	drawn       []line // those with data
	marks       []mark
	top, bottom float64 // the limits of the axis
	legend      []entry
}

const (
	marginLeft, marginRight, marginTop, axisHeight = 46.0, 12.0, 6.0, 20.0
	letter                                         = 6.3  // approximate width of a letter of the legend
	labelHeight                                    = 12.0 // height of a line of small text
)

func (w widget) chart(on canvas, lines []line, g metricmath.Grid, width, height float64) {
	c := chart{on: on, w: width, h: height, grid: g, lines: lines, marks: w.Properties.Annotations.Horizontal}
	for _, l := range lines {
		if !l.values.Empty() {
			c.drawn = append(c.drawn, l)
		}
	}
	c.scale(w.Properties)
	c.layOutLegend()
	c.axes()
	c.lower()
	switch {
	case len(c.drawn) == 0:
		on.text(point{(c.w + marginLeft) / 2, c.floor() / 2}, centered, nothing, "no data")
	case w.Properties.Stacked:
		c.bars()
	default:
		for _, l := range c.drawn {
			c.curve(l)
		}
	}
	c.drawLegend()
}

// scale fits the vertical axis to the drawn values.
func (c *chart) scale(p properties) {
	highest := 0.0
	for i := range c.grid.Len {
		sum := 0.0
		for _, l := range c.drawn {
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
		highest = max(highest, m.Value*1.05) // with space for its label
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

// nice returns the smallest of 1, 1.2, 1.6, 2, 3, 4, 6, 8 × 10ⁿ that is at least v. Each of these is easily divided
// by four.
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

func (c *chart) floor() float64 { return c.h - axisHeight - c.legendHeight() }

func (c *chart) y(v float64) float64 {
	return c.floor() - (v-c.bottom)/(c.top-c.bottom)*(c.floor()-marginTop)
}

// x returns the position of the middle of a period.
func (c *chart) x(i int) float64 {
	return marginLeft + (float64(i)+0.5)*c.step()
}

func (c *chart) step() float64 { return (c.w - marginLeft - marginRight) / float64(c.grid.Len) }

func (c *chart) axes() {
	const ticks = 4
	for i := range ticks + 1 {
		v := c.bottom + (c.top-c.bottom)*float64(i)/ticks
		c.on.grid(point{marginLeft, c.y(v)}, point{c.w - marginRight, c.y(v)})
		c.on.text(point{marginLeft - 5, c.y(v) + 3.5}, ends, small, short(v))
	}
	if c.grid.Len == 0 {
		return
	}
	format := "15:04"
	if c.grid.Period.Seconds() < 60 {
		format = "15:04:05"
	}
	if c.grid.Period.Hours() >= 1 {
		format = "2 Jan 15:04"
	}
	if c.grid.Period.Hours() >= 24 {
		format = "2 Jan 2006"
	}
	labels := min(c.grid.Len, max(2, int(c.w/130)))
	for n := range labels {
		i, a := 0, centered
		if labels > 1 {
			i = n * (c.grid.Len - 1) / (labels - 1)
		}
		if n == labels-1 && labels > 1 {
			a = ends
		}
		c.on.text(point{min(c.x(i)+letter*2, c.w-2), c.floor() + 14}, a, small, c.grid.At(i).Format(format))
	}
}

// lower draws the horizontal annotations and their labels. A label is above or below its line, at the right or the left
// end, wherever it covers neither a curve nor another label, if there is such a place.
func (c *chart) lower() {
	taken := make([]box, 0, len(c.marks))
	for _, m := range c.marks {
		y := c.y(m.Value)
		c.on.mark(point{marginLeft, y}, point{c.w - marginRight, y}, m.Color)
		width := letter * float64(letters(m.Label)+1)
		right, left := c.w-marginRight-2-width, marginLeft+2.0
		above, below := y-labelHeight, y+2
		places := []box{{right, above, width, labelHeight}, {right, below, width, labelHeight},
			{left, above, width, labelHeight}, {left, below, width, labelHeight},
			{(left + right) / 2, above, width, labelHeight}, {(left + right) / 2, below, width, labelHeight}}
		i := slices.IndexFunc(places, func(b box) bool {
			return b.y >= marginTop-labelHeight && b.y+b.h <= c.floor() && !slices.ContainsFunc(taken, b.overlaps) &&
				!c.covers(b)
		})
		at := places[max(i, 0)]
		taken = append(taken, at)
		c.on.text(point{at.x + at.w, at.y + labelHeight - 3}, ends, small, m.Label)
	}
}

func (b box) overlaps(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}

// covers reports whether a curve, or another annotation's line, passes through a box.
func (c *chart) covers(b box) bool {
	if slices.ContainsFunc(c.marks, func(m mark) bool { return c.y(m.Value) > b.y && c.y(m.Value) < b.y+b.h }) {
		return true
	}
	for _, l := range c.drawn {
		last := -1 // the period before, if it has a value
		for i, v := range l.values {
			if math.IsNaN(v) {
				continue
			}
			if x := c.x(i); x >= b.x && last >= 0 && c.x(last) <= b.x+b.w {
				y, before := c.y(min(max(v, c.bottom), c.top)), c.y(min(max(l.values[last], c.bottom), c.top))
				if min(y, before) <= b.y+b.h && max(y, before) >= b.y {
					return true
				}
			}
			last = i
		}
	}
	return false
}

// curve draws a line through the periods that have a value. If there is space, it also draws a dot for each of
// these periods.
func (c *chart) curve(l line) {
	var through []point
	for i, v := range l.values {
		if math.IsNaN(v) {
			continue
		}
		at := point{c.x(i), c.y(min(max(v, c.bottom), c.top))}
		through = append(through, at)
		if c.step() > 5 {
			c.on.dot(at, l.color, c.said(i, l, v))
		}
	}
	if len(through) == 1 && c.step() <= 5 {
		c.on.dot(through[0], l.color, l.label)
	}
	c.on.curve(through, l.color)
}

// bars draws the lines as stacked bars.
func (c *chart) bars() {
	sums := make([]float64, c.grid.Len)
	width := min(max(1, c.step()*0.8), 60)
	for _, l := range c.drawn {
		for i, v := range l.values {
			if math.IsNaN(v) || v <= 0 {
				continue
			}
			low := sums[i]
			sums[i] += v
			c.on.bar(box{c.x(i) - width/2, c.y(sums[i]), width, c.y(low) - c.y(sums[i])}, l.color, c.said(i, l, v))
		}
	}
}

// said returns the text that describes a value: its time, the line's label and the number.
func (c *chart) said(i int, l line, v float64) string {
	return c.grid.At(i).Format("15:04:05") + " " + l.label + ": " + short(v)
}

// short formats a number in about seven characters, with three significant digits. From a thousand on it uses whole
// numbers, and then tenths of thousands, millions and so on.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "–"
	case a < 999.5: // three digits would round larger numbers to 1e+03
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a < 10e3:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	for _, s := range []struct {
		size float64
		name string
	}{{1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}} {
		if a < 10e3*s.size {
			return strconv.FormatFloat(math.Round(v/s.size*10)/10, 'f', -1, 64) + s.name
		}
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
