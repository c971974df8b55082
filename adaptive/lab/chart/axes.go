package chart

import (
	"math"
	"strconv"
)

// panel is the rectangle of a plot, with the values at its edges.
type panel struct {
	*Figure
	x, y, w, h             float64
	left, right, low, high float64
	logarithmic            bool // the vertical axis is logarithmic
}

func (p *panel) at(x, y float64) Point {
	low, high := p.low, p.high
	if p.logarithmic {
		low, high, y = math.Log(low), math.Log(high), math.Log(math.Max(y, p.low))
	}
	px := p.x + p.w*(x-p.left)/(p.right-p.left)
	py := p.y + p.h*(1-(y-low)/(high-low))
	return Point{math.Min(math.Max(px, p.x), p.x+p.w), math.Min(math.Max(py, p.y), p.y+p.h)}
}

// axes draws the grid with its numbers, and the names of the axes.
func (p *panel) axes(xName, yName string) {
	for _, v := range p.ticks() {
		a, b := p.at(p.left, v), p.at(p.right, v)
		p.path(grid, 1, false, a, b)
		p.text(a.X-6, a.Y+4, end, 11, dim, number(v))
	}
	for _, v := range steps(p.left, p.right) {
		a := p.at(v, p.low)
		p.path(grid, 1, false, a, Point{a.X, a.Y + 4})
		p.text(a.X, a.Y+17, middle, 11, dim, number(v))
	}
	p.path(dim, 1, false, Point{p.x, p.y + p.h}, Point{p.x + p.w, p.y + p.h})
	p.text(p.x+p.w/2, p.y+p.h+33, middle, 11, dim, xName)
	p.text(p.x-34, p.y-8, start, 11, dim, yName)
}

func (p *panel) ticks() []float64 {
	if !p.logarithmic {
		return steps(p.low, p.high)
	}
	var ticks []float64
	for v := math.Pow(10, math.Ceil(math.Log10(p.low))); v <= p.high; v *= 10 {
		ticks = append(ticks, v)
	}
	return ticks
}

// steps returns round numbers from low to high, at most eight.
func steps(low, high float64) []float64 {
	span := high - low
	if !(span > 0) {
		return nil
	}
	unit := math.Pow(10, math.Floor(math.Log10(span/4)))
	for _, factor := range []float64{1, 2, 2.5, 5, 10} {
		if span/(unit*factor) <= 7 {
			unit *= factor
			break
		}
	}
	var out []float64
	for i := math.Ceil(low/unit - 1e-9); i*unit <= high+span*1e-9; i++ {
		out = append(out, i*unit)
	}
	return out
}

func number(v float64) string {
	if math.Abs(v) < 1e-9 {
		return "0"
	}
	if math.Abs(v) >= 10_000 {
		return strconv.FormatFloat(v/1000, 'f', -1, 64) + "k"
	}
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}
