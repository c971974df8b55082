package render

import (
	"image"
	"math"
)

// path is a set of closed outlines, in pixels. All have the same orientation, so that they add up where they
// overlap.
type path [][]point

// bounds returns the bounds of the pixels that the path touches.
func (p path) bounds() image.Rectangle {
	var r image.Rectangle
	for _, outline := range p {
		for _, q := range outline {
			x, y := int(math.Floor(q.x)), int(math.Floor(q.y))
			r = r.Union(image.Rect(x, y, x+1, y+1))
		}
	}
	return r
}

// segment adds a straight stroke with a width of 2*half.
func (p *path) segment(from, to point, half float64) {
	length := math.Hypot(to.x-from.x, to.y-from.y)
	if length == 0 {
		return
	}
	nx, ny := -(to.y-from.y)/length*half, (to.x-from.x)/length*half
	*p = append(*p, []point{{from.x - nx, from.y - ny}, {to.x - nx, to.y - ny}, {to.x + nx, to.y + ny},
		{from.x + nx, from.y + ny}})
}

// circle adds a circle.
func (p *path) circle(at point, radius float64) {
	const corners = 16
	outline := make([]point, 0, corners)
	for i := range corners {
		outline = append(outline, around(at, radius, 2*math.Pi*float64(i)/corners))
	}
	*p = append(*p, outline)
}

// rounded adds a rectangle with rounded corners.
func (p *path) rounded(from, to point, radius float64) {
	radius = min(radius, (to.x-from.x)/2, (to.y-from.y)/2)
	if radius <= 0 {
		*p = append(*p, []point{from, {to.x, from.y}, to, {from.x, to.y}})
		return
	}
	const steps = 6
	var outline []point
	for i, center := range []point{
		{to.x - radius, from.y + radius}, {to.x - radius, to.y - radius}, {from.x + radius, to.y - radius},
		{from.x + radius, from.y + radius},
	} {
		for step := range steps + 1 {
			outline = append(outline, around(center, radius, math.Pi/2*(float64(i)-1+float64(step)/steps)))
		}
	}
	*p = append(*p, outline)
}

// around returns the point of a circle at an angle, clockwise from the right as seen on the page.
func around(at point, radius, angle float64) point {
	return point{at.x + radius*math.Cos(angle), at.y + radius*math.Sin(angle)}
}
