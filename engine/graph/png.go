package graph

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"stepback/engine/timeline"
)

// maxPixels is the maximum number of pixels in a PNG. A larger picture is drawn smaller, down to a scale of 1. If
// it is still too large, it is refused.
const maxPixels = 60_000_000

// PNG writes the picture in light colors, at twice the layout's resolution, or at a lower one if that is too large.
func (g *Graph) PNG(w io.Writer, o Options) error {
	scale := 2.0
	for g.Width*g.Height*scale*scale > maxPixels {
		if scale--; scale < 1 {
			return fmt.Errorf("the picture would be %.0f by %.0f pixels, too large for PNG; write it as SVG", g.Width, g.Height)
		}
	}
	b, err := newBitmap(g.Width, g.Height, scale)
	if err != nil {
		return err
	}
	for _, n := range g.Nodes {
		if n.Box() {
			b.node(n, o.Marks)
		}
	}
	for _, taken := range []bool{false, true} {
		for _, e := range g.Edges {
			if o.Marks.took(e) == taken {
				b.edge(e, taken)
			}
		}
	}
	for _, n := range g.Nodes {
		if !n.Box() {
			b.node(n, o.Marks)
		}
	}
	return png.Encode(w, b.image)
}

// The colors of the style sheet on a light background.
var (
	inkColor  = color.RGBA{0x1f, 0x23, 0x28, 0xff}
	dimColor  = color.RGBA{0x59, 0x63, 0x6e, 0xff}
	edgeColor = color.RGBA{0x8c, 0x95, 0x9f, 0xff}
	lineColor = color.RGBA{0xd1, 0xd9, 0xe0, 0xff}
	boxColor  = color.RGBA{0xf6, 0xf8, 0xfa, 0xff}
	badColor  = color.RGBA{0xc4, 0x23, 0x2b, 0xff}
)

// inks holds the border color and the background color of a state, by its outcome.
var inks = map[timeline.Outcome][2]color.RGBA{
	timeline.Succeeded: {{0x1a, 0x7f, 0x37, 0xff}, {0xea, 0xf7, 0xed, 0xff}},
	timeline.Failed:    {badColor, {0xfd, 0xee, 0xee, 0xff}},
	timeline.TimedOut:  {badColor, {0xfd, 0xee, 0xee, 0xff}},
	timeline.Caught:    {badColor, {0xfd, 0xee, 0xee, 0xff}},
	timeline.Running:   {{0x09, 0x69, 0xda, 0xff}, {0xe6, 0xf2, 0xfe, 0xff}},
	timeline.Waiting:   {{0x9a, 0x67, 0x00, 0xff}, {0xff, 0xf6, 0xd6, 0xff}},
	timeline.Aborted:   {dimColor, {0xff, 0xff, 0xff, 0xff}},
}

// bitmap is an image being drawn.
type bitmap struct {
	image *image.RGBA
	scale float64
	faces map[float64]font.Face
}

func newBitmap(width, height, scale float64) (*bitmap, error) {
	b := &bitmap{image: image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*scale)), int(math.Ceil(height*scale)))),
		scale: scale, faces: map[float64]font.Face{}}
	draw.Draw(b.image, b.image.Bounds(), image.White, image.Point{}, draw.Src)
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("font: %w", err)
	}
	for _, size := range []float64{nameSize, aboutSize} {
		if b.faces[size], err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: size * scale, DPI: 72,
			Hinting: font.HintingNone}); err != nil {
			return nil, fmt.Errorf("font: %w", err)
		}
	}
	return b, nil
}

func (b *bitmap) node(n *Node, marks *Marks) {
	border, ground, radius, wide := lineColor, color.RGBA{0xff, 0xff, 0xff, 0xff}, 5.0, 1.0
	mark := marks.mark(n.Name)
	switch {
	case n.Type == "":
		ground, radius, mark = boxColor, n.Height/2, nil
	case n.Box():
		ground, radius = boxColor, 8
	}
	if mark != nil {
		ink := inks[mark.Outcome]
		border, wide = ink[0], 1.5
		if !n.Box() {
			ground = ink[1]
		}
	}
	b.fill(rounded(n.X, n.Y, n.Width, n.Height, radius), border)
	b.fill(rounded(n.X+wide, n.Y+wide, n.Width-2*wide, n.Height-2*wide, radius-wide), ground)
	if n.Type == "" {
		b.text(n.X+n.Width/2-textWidth(n.Name, aboutSize)/2, n.Y+n.Height/2+4, aboutSize, dimColor, n.Name)
		return
	}
	b.text(n.X+textPad, n.Y+17, nameSize, inkColor, fit(n.Name, nameSize, n.Width-2*textPad))
	b.text(n.X+textPad, n.Y+32, aboutSize, dimColor, n.second(mark))
}

func (b *bitmap) edge(e *Edge, taken bool) {
	ink, wide := edgeColor, 1.25
	if e.Kind == Catch {
		ink = color.RGBA{0xdc, 0x7b, 0x80, 0xff}
	}
	if taken {
		ink, wide = inkColor, 2
		if e.Kind == Catch {
			ink = badColor
		}
	}
	line := []Point{e.Points[0]}
	for _, c := range e.curves() {
		from := line[len(line)-1]
		if c[0] == c[2] {
			line = append(line, c[2])
			continue
		}
		const parts = 16
		for i := 1; i <= parts; i++ {
			line = append(line, cubic(from, c, float64(i)/parts))
		}
	}
	switch e.Kind {
	case Catch:
		b.dashed(line, wide, 4, 3, ink)
	case Default:
		b.dashed(line, wide, 1.5, 3, ink)
	default:
		b.stroke(line, wide, ink)
	}
	if !e.Trunk {
		h := e.head(e.end())
		b.fill(h[:], ink)
	}
	if e.Label != "" {
		at, w := e.labelAt(), textWidth(e.Label, aboutSize)
		b.fill(rounded(at.X-w/2-3, at.Y-10, w+6, 13, 3), color.RGBA{0xff, 0xff, 0xff, 0xff})
		b.text(at.X-w/2, at.Y, aboutSize, dimColor, e.Label)
	}
}

func cubic(p Point, c [3]Point, t float64) Point {
	u := 1 - t
	f := func(a, b, c, d float64) float64 { return u*u*u*a + 3*u*u*t*b + 3*u*t*t*c + t*t*t*d }
	return Point{f(p.X, c[0].X, c[1].X, c[2].X), f(p.Y, c[0].Y, c[1].Y, c[2].Y)}
}

// rounded returns the outline of a rounded rectangle.
func rounded(x, y, w, h, r float64) []Point {
	r = max(0, min(r, w/2, h/2))
	const parts = 8
	out := make([]Point, 0, 4*(parts+1))
	for corner, center := range []Point{
		{x + w - r, y + r}, {x + w - r, y + h - r}, {x + r, y + h - r}, {x + r, y + r},
	} {
		for i := range parts + 1 {
			a := -math.Pi/2 + math.Pi/2*(float64(corner)+float64(i)/parts)
			out = append(out, Point{center.X + r*math.Cos(a), center.Y + r*math.Sin(a)})
		}
	}
	return out
}

// dashed draws a dashed line.
func (b *bitmap) dashed(line []Point, width, dash, gap float64, c color.Color) {
	left, on := dash, true
	part := []Point{line[0]}
	for i := 1; i < len(line); i++ {
		p, q := line[i-1], line[i]
		for {
			long := math.Hypot(q.X-p.X, q.Y-p.Y)
			if long < left {
				left -= long
				part = append(part, q)
				break
			}
			p = Point{p.X + (q.X-p.X)*left/long, p.Y + (q.Y-p.Y)*left/long}
			if part = append(part, p); on {
				b.stroke(part, width, c)
			}
			on, part = !on, []Point{p}
			if left = dash; !on {
				left = gap
			}
		}
	}
	if on {
		b.stroke(part, width, c)
	}
}

// stroke draws a line.
func (b *bitmap) stroke(line []Point, width float64, c color.Color) {
	for i := 1; i < len(line); i++ {
		p, q := line[i-1], line[i]
		long := math.Hypot(q.X-p.X, q.Y-p.Y)
		if long == 0 {
			continue
		}
		dx, dy := (q.Y-p.Y)/long*width/2, -(q.X-p.X)/long*width/2
		b.fill([]Point{{p.X + dx, p.Y + dy}, {q.X + dx, q.Y + dy}, {q.X - dx, q.Y - dy}, {p.X - dx, p.Y - dy}}, c)
	}
}

// fill fills an outline.
func (b *bitmap) fill(outline []Point, c color.Color) {
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range outline {
		left, right = min(left, p.X*b.scale), max(right, p.X*b.scale)
		top, bottom = min(top, p.Y*b.scale), max(bottom, p.Y*b.scale)
	}
	area := image.Rect(int(left)-1, int(top)-1, int(right)+2, int(bottom)+2).Intersect(b.image.Bounds())
	if area.Empty() {
		return
	}
	v := vector.NewRasterizer(area.Dx(), area.Dy())
	at := func(p Point) (x, y float32) {
		return float32(p.X*b.scale - float64(area.Min.X)), float32(p.Y*b.scale - float64(area.Min.Y))
	}
	x, y := at(outline[0])
	v.MoveTo(x, y)
	for _, p := range outline[1:] {
		x, y = at(p)
		v.LineTo(x, y)
	}
	v.ClosePath()
	v.Draw(b.image, area, image.NewUniform(c), image.Point{})
}

// text writes one line of text; x and y are its position on the baseline.
func (b *bitmap) text(x, y, size float64, c color.Color, s string) {
	d := font.Drawer{Dst: b.image, Src: image.NewUniform(c), Face: b.faces[size],
		Dot: fixed.P(int(math.Round(x*b.scale)), int(math.Round(y*b.scale)))}
	d.DrawString(s)
}
