package render

// canvas is a surface for drawing widgets. Coordinates are in pixels from the upper left corner. Colors are CSS
// colors; a canvas only has to support #rrggbb.
type canvas interface {
	// text writes one line of text. The point is on its base line, at the start, the centre or the end of the text.
	text(at point, a anchor, s style, text string)
	// grid draws a grid line. mark draws a dashed line; if its color is empty, it has the color of alarms.
	grid(from, to point)
	mark(from, to point, color string)
	// curve draws a line through points. dot, bar and area draw shapes that show their title when hovered over.
	curve(through []point, color string)
	dot(at point, color, title string)
	bar(b box, color, title string)
	area(outline []point, color, title string)
	// shade fills a box with a transparent color.
	shade(b box, color string)
	// swatch draws a sample of a color in a legend. card draws the background of a widget.
	swatch(at point, color string)
	card(b box)
	// moved returns the canvas with its origin moved to by.
	moved(by point) canvas
}

type point struct{ x, y float64 }

type box struct{ x, y, w, h float64 }

// anchor says which part of a text is aligned to its point: the start, the centre or the end.
type anchor int

const (
	begins anchor = iota
	centered
	ends
)

// style is the look of a text.
type style int

const (
	small   style = iota // axes and legends
	title                // titles of widgets
	heading              // headings of the page
	number               // a single value
	nothing              // shown if there are no data
	alarming
	fine
	prose // paragraphs
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
	shadeShare  = 0.12 // opacity of shaded boxes
)
