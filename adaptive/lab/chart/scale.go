package chart

import (
	"math"
	"strconv"
)

// Growth is a quantity at growing sizes, a line of [Scale]. Sizes and values are positive; values are in the unit of
// the line's axis.
type Growth struct {
	Name          string
	Sizes, Values []float64
}

// Scale draws how cost grows: the lines of each panel over the same sizes, both axes logarithmic. A line that rises at
// 45° grows in proportion to the size, and a level line does not grow.
func Scale(title, sizes string, panels ...ScalePanel) *Figure {
	const width, height, x, y, w, h = 470, 330, 62, 62, 380, 200
	f := &Figure{Width: width * float64(len(panels)), Height: height, Title: title}
	for i, p := range panels {
		p.draw(f, sizes, x+width*float64(i), y, w, h)
	}
	return f
}

// ScalePanel is a panel of [Scale], with the name and unit of its vertical axis.
type ScalePanel struct {
	Heading, Axis string
	Lines         []Growth
}

func (s ScalePanel) draw(f *Figure, sizes string, x, y, w, h float64) {
	f.heading(x-44, y-38, s.Heading)
	left, right, low, high := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range s.Lines {
		for i, size := range l.Sizes {
			left, right = min(left, math.Log10(size)), max(right, math.Log10(size))
			low, high = min(low, l.Values[i]), max(high, l.Values[i])
		}
	}
	low, high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	if low == high {
		high *= 10
	}
	p := panel{
		Figure:      f,
		x:           x,
		y:           y,
		w:           w,
		h:           h,
		left:        left,
		right:       max(right, left+1),
		low:         low,
		high:        high,
		logarithmic: true,
	}
	for _, v := range p.ticks() {
		a, b := p.at(p.left, v), p.at(p.right, v)
		p.path(grid, 1, false, a, b)
		p.text(a.X-6, a.Y+4, end, 11, dim, plain(v))
	}
	for decade := math.Ceil(p.left); decade <= p.right; decade++ {
		a := p.at(decade, p.low)
		p.path(grid, 1, false, a, Point{a.X, p.y})
		p.text(a.X, a.Y+17, middle, 11, dim, plain(math.Pow(10, decade)))
	}
	p.path(dim, 1, false, Point{p.x, p.y + p.h}, Point{p.x + p.w, p.y + p.h})
	p.text(p.x+p.w/2, p.y+p.h+33, middle, 11, dim, sizes)
	p.text(p.x-44, p.y-10, start, 11, dim, s.Axis)
	for i, l := range s.Lines {
		color := palette[i%len(palette)]
		points := make([]Point, len(l.Sizes))
		for j, size := range l.Sizes {
			points[j] = p.at(math.Log10(size), l.Values[j])
			p.rect(color, points[j].X-2, points[j].Y-2, 4, 4)
		}
		p.path(color, 2, false, points...)
		at := p.x + float64(i)*w/float64(len(s.Lines))
		p.path(color, 2, false, Point{at, p.y + p.h + 50}, Point{at + 16, p.y + p.h + 50})
		p.text(at+21, p.y+p.h+54, start, 11, ink, l.Name)
	}
}

// plain formats a power of ten: 0.01, 10, 10k, 10M.
func plain(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 6, 64) + "M"
	case v >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 6, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
