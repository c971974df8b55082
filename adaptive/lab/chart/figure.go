package chart

// Point is a position on a figure, in pixels from the upper left corner.
type Point struct{ X, Y float64 }

// Figure is a picture: shapes in drawing order on a white background.
type Figure struct {
	Width, Height float64
	// Title describes the figure for people who cannot see it.
	Title  string
	shapes []shape
}

// shape is an element that both renderers can draw.
type shape interface {
	svg(w *svgWriter)
	png(b *bitmap)
}

// area is a filled polygon, path is a line through points, and label is one line of text. Colors are #rrggbb;
// opacity is 0 to 1.
type (
	area struct {
		points  []Point
		color   string
		opacity float64
	}
	path struct {
		points []Point
		color  string
		width  float64
		dashed bool
	}
	label struct {
		at     Point
		anchor anchor
		size   float64
		bold   bool
		color  string
		text   string
	}
)

// anchor selects the part of a text (start, middle or end) that is placed at the text's point.
type anchor int

const (
	start anchor = iota
	middle
	end
)

// Foreground and background colors.
const (
	ink  = "#16191f"
	dim  = "#5f6b7a"
	grid = "#e3e6ea"
	good = "#cfe8d5"
	bad  = "#d9534f"
)

func (f *Figure) area(color string, opacity float64, points ...Point) {
	f.shapes = append(f.shapes, area{points, color, opacity})
}

func (f *Figure) rect(color string, x, y, w, h float64) {
	f.area(color, 1, Point{x, y}, Point{x + w, y}, Point{x + w, y + h}, Point{x, y + h})
}

func (f *Figure) path(color string, width float64, dashed bool, points ...Point) {
	f.shapes = append(f.shapes, path{points, color, width, dashed})
}

func (f *Figure) text(x, y float64, a anchor, size float64, color, text string) {
	f.shapes = append(f.shapes, label{Point{x, y}, a, size, false, color, text})
}

func (f *Figure) heading(x, y float64, text string) {
	f.shapes = append(f.shapes, label{Point{x, y}, start, 14, true, ink, text})
}
