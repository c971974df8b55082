package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// numbers draws the latest value of each row as a number, with its curve below if the widget asks for it.
func (w *Widget) numbers(on canvas, window Window, width, height float64) {
	const cell, high = 130.0, 50.0
	if len(w.Lines) == 0 {
		return
	}
	columns := min(len(w.Lines), max(1, int((width-24)/cell)))
	step := (width - 24) / float64(columns)
	for i := range w.Lines {
		l := &w.Lines[i]
		at := on.moved(point{12 + float64(i%columns)*step, float64(i/columns) * high})
		if at0 := float64(i/columns) * high; at0+80 > height+4 {
			on.text(point{width - 12, height - 4}, ends, small, fmt.Sprintf("and %d more", len(w.Lines)-i))
			return
		}
		at.text(point{0, 58}, begins, number, short(l.Last()))
		at.text(point{0, 80}, begins, small, cut(l.Label, int(step/letter)-1))
	}
	if rows := (len(w.Lines) + columns - 1) / columns; w.properties.Sparkline && height-float64(rows)*high-40 > 20 {
		w.spark(on, window, box{12, float64(rows)*high + 36, width - 24, height - float64(rows)*high - 44})
	}
}

// spark draws the lines without axes.
func (w *Widget) spark(on canvas, window Window, b box) {
	span := float64(window.To.Sub(window.From))
	for i := range w.Lines {
		l := &w.Lines[i]
		if len(l.Values) == 0 {
			continue
		}
		s := fit([]*Line{l}, false, nil, axis{})
		through := make([]point, len(l.Values))
		for n, v := range l.Values {
			share := float64(l.Times[n].Add(l.Period/2).Sub(window.From)) / span
			through[n] = point{b.x + min(max(share, 0), 1)*b.w, b.y + b.h*(1-s.share(v))}
		}
		on.curve(through, l.Color)
	}
}

// gauge draws the latest value of the first row on an arc from the axis's least to its greatest value. The colors of
// horizontal annotations mark parts of the arc.
func (w *Widget) gauge(on canvas, width, height float64) {
	a := w.properties.YAxis.Left
	lines := make([]*Line, 0, len(w.Lines))
	for i := range w.Lines {
		lines = append(lines, &w.Lines[i])
	}
	if len(lines) == 0 {
		return
	}
	each := width / float64(len(lines))
	for i, l := range lines {
		var marks []mark
		for _, b := range w.properties.Annotations.Horizontal {
			marks = append(marks, b...)
		}
		s := fit([]*Line{l}, false, marks, a)
		radius := max(20, min(each/2-34, height-headHeight-46))
		center := point{each*float64(i) + each/2, headHeight + radius + 10}
		on.area(arc(center, radius, 0.72*radius, 0, 1), "#b6bec7", "from "+short(s.bottom)+" to "+short(s.top))
		for _, b := range w.properties.Annotations.Horizontal {
			from, to := 0.0, 1.0
			if len(b) == 0 {
				continue
			}
			switch {
			case len(b) == 2:
				from, to = s.share(min(b[0].Value, b[1].Value)), s.share(max(b[0].Value, b[1].Value))
			case len(b) == 1 && b[0].Fill == "below":
				to = s.share(b[0].Value)
			case len(b) == 1:
				from = s.share(b[0].Value)
			}
			on.area(arc(center, radius+5, radius+1, from, to), cmp.Or(b[0].Color, alarmColor), b[0].Label)
		}
		if v := l.Last(); !math.IsNaN(v) {
			on.area(arc(center, radius, 0.72*radius, 0, s.share(v)), l.Color, l.Label+": "+short(v))
		}
		on.text(point{center.x, center.y - 4}, centered, number, short(l.Last()))
		on.text(point{center.x - 0.86*radius, center.y + 14}, centered, small, short(s.bottom))
		on.text(point{center.x + 0.86*radius, center.y + 14}, centered, small, short(s.top))
		on.text(point{center.x, center.y + 28}, centered, small, cut(l.Label, int(each/letter)-2))
	}
}

// arc returns the outline of a part of a half ring, from the left at 0 over the top to the right at 1.
func arc(center point, outer, inner, from, to float64) []point {
	const steps = 48
	out, back := make([]point, 0, 2*(steps+1)), make([]point, 0, steps+1)
	for i := range steps + 1 {
		angle := math.Pi * (1 + from + (to-from)*float64(i)/steps)
		out, back = append(out, around(center, outer, angle)), append(back, around(center, inner, angle))
	}
	slices.Reverse(back)
	return append(out, back...)
}

// barRows draws the latest value of each row as a horizontal bar.
func (w *Widget) barRows(on canvas, width, height float64) {
	const line = 20.0
	top, most := headHeight+8, int((height-headHeight-12)/line)
	greatest := 0.0
	for i := range w.Lines {
		greatest = max(greatest, math.Abs(w.Lines[i].Last()))
	}
	if a := w.properties.YAxis.Left; a.Max != nil {
		greatest = *a.Max
	}
	names := min(width*0.4, 220)
	for i := range w.Lines {
		l := &w.Lines[i]
		y := top + float64(i)*line
		if i == most-1 && i < len(w.Lines)-1 {
			on.text(point{12, y + 12}, begins, small, fmt.Sprintf("and %d more", len(w.Lines)-i))
			return
		}
		v := l.Last()
		on.text(point{12, y + 12}, begins, small, cut(l.Label, int((names-16)/letter)))
		long := 0.0
		if space := width - names - 70; greatest > 0 && !math.IsNaN(v) {
			long = min(1, math.Abs(v)/greatest) * space
		}
		on.bar(box{names, y + 1, max(long, 1), line - 6}, l.Color, l.Label+": "+short(v))
		on.text(point{names + long + 6, y + 12}, begins, small, short(v))
	}
}

// pie draws the shares of the latest values of all rows.
func (w *Widget) pie(on canvas, width, height float64) {
	sum := 0.0
	for i := range w.Lines {
		if v := w.Lines[i].Last(); v > 0 {
			sum += v
		}
	}
	radius := max(20, min((height-headHeight)/2-8, width/4-10))
	center := point{radius + 16, headHeight + radius}
	if sum == 0 {
		on.text(point{width / 2, height / 2}, centered, nothing, "no data")
		return
	}
	at := 0.0
	most := int((height - headHeight) / legendLine)
	for i := range w.Lines {
		l := &w.Lines[i]
		v := max(0, l.Last())
		if math.IsNaN(v) {
			v = 0
		}
		label := fmt.Sprintf("%s: %s (%.3g %%)", l.Label, short(l.Last()), 100*v/sum)
		if v > 0 {
			on.area(slice(center, radius, at, at+v/sum), l.Color, label)
		}
		at += v / sum
		y := headHeight + float64(i+1)*legendLine
		if i < most {
			(&entry{label: cut(label, int((width-2*radius-50)/letter)), color: l.Color}).draw(on, point{2*radius + 32,
				y})
		}
	}
}

// slice returns the outline of a slice of a circle; 0 and 1 are at the top.
func slice(center point, radius, from, to float64) []point {
	const steps = 64
	outline := append(make([]point, 0, steps+2), center)
	for i := range steps + 1 {
		outline = append(outline, around(center, radius, 2*math.Pi*(from+(to-from)*float64(i)/steps-0.25)))
	}
	return outline
}

// Figures are the latest, least, greatest and mean values of a line, their sum, and their number.
type Figures struct {
	Latest, Least, Greatest, Mean, Sum float64
	Number                             int
}

// Figures returns the figures of the line's values; they are NaN if there are none.
func (l *Line) Figures() Figures {
	f := Figures{l.Last(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), len(l.Values)}
	if f.Number == 0 {
		return f
	}
	f.Sum = 0
	for _, v := range l.Values {
		f.Sum += v
	}
	f.Least, f.Greatest, f.Mean = slices.Min(l.Values), slices.Max(l.Values), f.Sum/float64(f.Number)
	return f
}

// Texts returns the figures formatted as in charts: latest, least, greatest, mean and sum.
func (f Figures) Texts() []string {
	return []string{short(f.Latest), short(f.Least), short(f.Greatest), short(f.Mean), short(f.Sum)}
}

// summary returns the table of a widget's lines.
func (w *Widget) summary() Table {
	t := Table{Columns: []string{"", "latest", "min", "max", "average", "sum"}}
	for i := range w.Lines {
		t.Rows = append(t.Rows, append([]string{w.Lines[i].Label}, w.Lines[i].Figures().Texts()...))
	}
	return t
}

// table draws rows of text. The first column is wider than the others.
func (t *Table) draw(on canvas, width, height float64) {
	const line = 18.0
	if len(t.Columns) == 0 {
		on.text(point{width / 2, height / 2}, centered, nothing, "no data")
		return
	}
	widths := t.widths(width - 24)
	row := func(y float64, cells []string, s style) {
		x := 12.0
		for i, c := range cells[:min(len(cells), len(widths))] {
			on.text(point{x, y}, begins, s, cut(strings.Join(strings.Fields(c), " "), int(widths[i]/letter)-1))
			x += widths[i]
		}
	}
	y := headHeight + 14
	row(y, t.Columns, title)
	on.grid(point{12, y + 5}, point{width - 12, y + 5})
	most := int((height - y - 6) / line)
	for i, cells := range t.Rows {
		y += line
		if i == most-1 && i < len(t.Rows)-1 {
			on.text(point{12, y}, begins, small, fmt.Sprintf("and %d more", len(t.Rows)-i))
			return
		}
		row(y, cells, small)
	}
	if len(t.Rows) == 0 {
		on.text(point{width / 2, y + 30}, centered, nothing, "no data")
	}
}

// widths divides a width among the columns in proportion to their longest texts, within limits.
func (t *Table) widths(width float64) []float64 {
	all := make([]float64, len(t.Columns))
	sum := 0.0
	for i, c := range t.Columns {
		longest := letters(c) + 2
		for _, r := range t.Rows {
			if i < len(r) {
				longest = max(longest, min(letters(r[i]), 80))
			}
		}
		all[i] = float64(longest + 2)
		sum += all[i]
	}
	for i := range all {
		all[i] *= width / sum
	}
	return all
}
