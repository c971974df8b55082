package render

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// chart draws a time series widget into a box of w × h pixels below the widget's title.
type chart struct {
	on         canvas
	w, h       float64
	window     Window
	widget     *Widget
	lines      []Line  // all of them, for the legend
	drawn      []*Line // those with data
	marks      []mark
	scales     [2]scale // of the left and the right axis
	rightAxis  bool
	legend     []entry // below the chart
	sideLegend []entry // to the right of the chart
}

const (
	marginLeft, marginRight, marginTop, axisHeight = 46.0, 12.0, 6.0, 20.0
	letter                                         = 6.3  // approximate width of a letter of the legend
	labelHeight                                    = 12.0 // height of a line of small text
)

// Plot is the part of a time series widget in which its lines are drawn, in pixels of the widget: the left edge
// corresponds to the beginning of the page's window, and the right edge to its end.
type Plot struct{ Left, Right float64 }

func (w *Widget) chart(on canvas, window Window, width, height float64) Plot {
	c := chart{on: on, w: width, h: height, window: window, widget: w, lines: w.Lines}
	for _, b := range w.properties.Annotations.Horizontal {
		for _, m := range b {
			if m.Visible == nil || *m.Visible {
				c.marks = append(c.marks, m)
			}
		}
	}
	c.marks = append(c.marks, w.marks...)
	for i := range w.Lines {
		c.rightAxis = c.rightAxis || w.Lines[i].Right
		if len(w.Lines[i].Values) > 0 {
			c.drawn = append(c.drawn, &w.Lines[i])
		}
	}
	for i, a := range []axis{w.properties.YAxis.Left, w.properties.YAxis.Right} {
		right := i == 1
		lines := slices.DeleteFunc(slices.Clone(c.drawn), func(l *Line) bool { return l.Right != right })
		marks := slices.DeleteFunc(slices.Clone(c.marks), func(m mark) bool { return (m.YAxis == "right") != right })
		c.scales[i] = fit(lines, w.properties.Stacked, marks, a)
	}
	c.layOutLegend()
	c.axes()
	c.fills()
	c.moments()
	c.lower()
	switch {
	case len(c.drawn) == 0:
		on.text(point{(c.w + c.left()) / 2, c.floor() / 2}, centered, nothing, "no data")
	case w.properties.Stacked:
		c.bars()
	default:
		for _, l := range c.drawn {
			c.curve(l)
		}
	}
	c.drawLegend()
	return Plot{c.left(), c.right()}
}

func (c *chart) left() float64 { return marginLeft }

// right returns the position of the chart's right edge.
func (c *chart) right() float64 {
	if c.rightAxis {
		return c.w - marginLeft
	}
	return c.w - marginRight
}

func (c *chart) floor() float64 { return c.h - axisHeight - c.legendHeight() }

// y returns the position of a value on an axis.
func (c *chart) y(v float64, right bool) float64 {
	return c.floor() - c.scales[btoi(right)].share(v)*(c.floor()-marginTop)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// x returns the position of a time.
func (c *chart) x(t time.Time) float64 {
	span := c.window.To.Sub(c.window.From)
	if span <= 0 {
		return c.left()
	}
	share := float64(t.Sub(c.window.From)) / float64(span)
	return c.left() + min(max(share, 0), 1)*(c.right()-c.left())
}

// middle returns the position of the middle of a line's period.
func (c *chart) middle(l *Line, i int) float64 { return c.x(l.Times[i].Add(l.Period / 2)) }

// step returns the width of a line's periods.
func (c *chart) step(l *Line) float64 {
	span := max(c.window.To.Sub(c.window.From), time.Nanosecond)
	return float64(l.Period) / float64(span) * (c.right() - c.left())
}

func (c *chart) axes() {
	ticks := 4
	if c.floor()-marginTop < 70 {
		ticks = 2
	}
	for i := range ticks + 1 {
		share := float64(i) / float64(ticks)
		y := c.floor() - share*(c.floor()-marginTop)
		c.on.grid(point{c.left(), y}, point{c.right(), y})
		at := func(s scale) string { return short(s.bottom + (s.top-s.bottom)*share) }
		c.on.text(point{c.left() - 5, y + 3.5}, ends, small, at(c.scales[0]))
		if c.rightAxis {
			c.on.text(point{c.right() + 5, y + 3.5}, begins, small, at(c.scales[1]))
		}
	}
	span := c.window.To.Sub(c.window.From)
	if span <= 0 {
		return
	}
	step := tickStep(span, max(2, int((c.right()-c.left())/105)))
	format := "15:04"
	switch {
	case step >= 24*time.Hour:
		format = "2 Jan"
	case span > 24*time.Hour:
		format = "2 Jan 15:04"
	case step < time.Minute:
		format = "15:04:05"
	}
	for t := c.window.From.Truncate(step); !t.After(c.window.To); t = t.Add(step) {
		if t.Before(c.window.From) {
			continue
		}
		a, x := centered, c.x(t)
		half := letter * float64(len(format)) / 2
		if x+half > c.w {
			a, x = ends, c.w-2
		}
		c.on.text(point{x, c.floor() + 14}, a, small, t.Format(format))
		c.on.grid(point{c.x(t), c.floor()}, point{c.x(t), c.floor() + 3})
	}
}

// tickStep returns the shortest customary distance of at most n ticks in a span.
func tickStep(span time.Duration, n int) time.Duration {
	const day = 24 * time.Hour
	for _, d := range []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute,
		2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
		2 * time.Hour,
		3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 7 * day, 14 * day} {
		if span <= time.Duration(n)*d {
			return d
		}
	}
	return (span / time.Duration(n)).Truncate(day) + day
}

// fills shades what annotations fill: above or below a line, between two lines, before or after a time, between two
// times.
func (c *chart) fills() {
	whole := box{c.left(), marginTop, c.right() - c.left(), c.floor() - marginTop}
	rows := func(from, to float64, color string) {
		if from, to = max(from, whole.y), min(to, whole.y+whole.h); to > from {
			c.on.shade(box{whole.x, from, whole.w, to - from}, cmp.Or(color, alarmColor))
		}
	}
	for _, b := range c.widget.properties.Annotations.Horizontal {
		switch {
		case len(b) == 2:
			y, z := c.y(b[0].Value, b[0].YAxis == "right"), c.y(b[1].Value, b[0].YAxis == "right")
			rows(min(y, z), max(y, z), b[0].Color)
		case len(b) == 1 && b[0].Fill == "above":
			rows(whole.y, c.y(b[0].Value, b[0].YAxis == "right"), b[0].Color)
		case len(b) == 1 && b[0].Fill == "below":
			rows(c.y(b[0].Value, b[0].YAxis == "right"), whole.y+whole.h, b[0].Color)
		}
	}
	columns := func(from, to float64, color string) {
		if to > from {
			c.on.shade(box{from, whole.y, to - from, whole.h}, cmp.Or(color, alarmColor))
		}
	}
	for _, m := range c.widget.properties.Annotations.Vertical {
		switch {
		case len(m) == 2:
			x, z := c.x(m[0].Value), c.x(m[1].Value)
			columns(min(x, z), max(x, z), m[0].Color)
		case len(m) == 1 && m[0].Fill == "before":
			columns(whole.x, c.x(m[0].Value), m[0].Color)
		case len(m) == 1 && m[0].Fill == "after":
			columns(c.x(m[0].Value), whole.x+whole.w, m[0].Color)
		}
	}
}

// moments draws the vertical annotations that are in the window, with their labels.
func (c *chart) moments() {
	for _, both := range c.widget.properties.Annotations.Vertical {
		for _, m := range both {
			if m.Visible != nil && !*m.Visible || m.Value.Before(c.window.From) || m.Value.After(c.window.To) {
				continue
			}
			x := c.x(m.Value)
			c.on.mark(point{x, marginTop}, point{x, c.floor()}, m.Color)
			a, at := begins, x+3
			if x+letter*float64(letters(m.Label)) > c.right() {
				a, at = ends, x-3
			}
			c.on.text(point{at, marginTop + labelHeight - 3}, a, small, m.Label)
		}
	}
}

// lower draws the horizontal annotations and their labels. A label is above or below its line, at the right or the left
// end, wherever it covers neither a curve nor another label, if there is such a place.
func (c *chart) lower() {
	taken := make([]box, 0, len(c.marks))
	for _, m := range c.marks {
		y := c.y(m.Value, m.YAxis == "right")
		c.on.mark(point{c.left(), y}, point{c.right(), y}, m.Color)
		label := cut(m.Label, int((c.right()-c.left())/letter)-2)
		width := letter * float64(letters(label)+1)
		right, left := c.right()-2-width, c.left()+2.0
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
		c.on.text(point{at.x + at.w, at.y + labelHeight - 3}, ends, small, label)
	}
}

func (b box) overlaps(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}

// covers reports whether a curve, or another annotation's line, passes through a box.
func (c *chart) covers(b box) bool {
	if slices.ContainsFunc(c.marks, func(m mark) bool {
		y := c.y(m.Value, m.YAxis == "right")
		return y > b.y && y < b.y+b.h
	}) {
		return true
	}
	for _, l := range c.drawn {
		for i := 1; i < len(l.Values); i++ {
			if from, to := c.middle(l, i-1), c.middle(l, i); to < b.x || from > b.x+b.w {
				continue
			}
			y, before := c.y(l.Values[i], l.Right), c.y(l.Values[i-1], l.Right)
			if min(y, before) <= b.y+b.h && max(y, before) >= b.y {
				return true
			}
		}
	}
	return false
}

// mostDots is the most values of a line that are drawn with a dot and its title each.
const mostDots = 200

// curve draws a line through the periods that have a value. If there is space, it also draws a dot for each of
// these periods.
func (c *chart) curve(l *Line) {
	dots := len(l.Values) <= mostDots && c.step(l) > 5
	through := make([]point, len(l.Values))
	for i, v := range l.Values {
		through[i] = point{c.middle(l, i), c.y(v, l.Right)}
		if dots {
			c.on.dot(through[i], l.Color, c.said(l, i))
		}
	}
	if len(through) == 1 && !dots {
		c.on.dot(through[0], l.Color, c.said(l, 0))
	}
	c.on.curve(through, l.Color)
}

// bars draws the lines as stacked bars.
func (c *chart) bars() {
	sums := [2]map[time.Time]float64{{}, {}}
	for _, l := range c.drawn {
		width := min(max(1, c.step(l)*0.8), 60)
		for i, v := range l.Values {
			if v <= 0 {
				continue
			}
			sum := sums[btoi(l.Right)]
			low := sum[l.Times[i]]
			sum[l.Times[i]] = low + v
			top, bottom := c.y(low+v, l.Right), c.y(low, l.Right)
			c.on.bar(box{c.middle(l, i) - width/2, top, width, bottom - top}, l.Color, c.said(l, i))
		}
	}
}

// said returns the text that describes a value: its time, the line's label and the number.
func (c *chart) said(l *Line, i int) string {
	format := "15:04:05"
	if c.window.To.Sub(c.window.From) > 24*time.Hour {
		format = "2 Jan 15:04:05"
	}
	return l.Times[i].UTC().Format(format) + " " + l.Label + ": " + short(l.Values[i])
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
