package render

// canvas is what widgets are drawn on; coordinates are pixels from the upper left corner. Colors are CSS colors, of
// which a canvas need not know more than #rrggbb.
type canvas interface {
	// text writes one line, whose base line begins, is centered or ends at a point.
	text(at point, a anchor, s style, text string)
	// grid draws a line of the grid, mark a dashed line; an empty color is that of alarms.
	grid(from, to point)
	mark(from, to point, color string)
	// curve draws a line through points, dot and bar what a title says when it is pointed at.
	curve(through []point, color string)
	dot(at point, color, title string)
	bar(b box, color, title string)
	// swatch is a legend's sample of a color, card the ground of a widget.
	swatch(at point, color string)
	card(b box)
	// moved is the canvas with its corner elsewhere.
	moved(by point) canvas
}

type point struct{ x, y float64 }

type box struct{ x, y, w, h float64 }

// anchor is the part of a text that is at its point.
type anchor int

const (
	begins anchor = iota
	centered
	ends
)

// style is how a text looks.
type style int

const (
	small   style = iota // axes and legends
	title                // of widgets
	heading              // of the page
	number               // a single value
	nothing              // where there are no data
	alarming
	fine
)

const (
	dotRadius   = 2.2
	swatchSize  = 9.0
	cardRadius  = 6.0
	curveWidth  = 1.6
	alarmColor  = "#d62728"
	markDash    = 4.0
	markGap     = 3.0
	swatchRound = 2.0
)
