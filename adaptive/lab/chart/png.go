package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// scale is the number of file pixels per pixel of the figure, so that text is sharp on dense screens.
const scale = 2

// bitmap is a PNG that is being drawn.
type bitmap struct {
	image *image.RGBA
	faces map[face]font.Face
	fonts [2]*opentype.Font // regular and bold
	err   error             // the first error
}

type face struct {
	size float64
	bold bool
}

// WritePNG writes the figure as a PNG of twice its size, with Go's own fonts.
func (f *Figure) WritePNG(out io.Writer) error {
	b := &bitmap{
		image: image.NewRGBA(image.Rect(0, 0, int(math.Ceil(f.Width*scale)), int(math.Ceil(f.Height*scale)))),
		faces: map[face]font.Face{},
	}
	for i, ttf := range [][]byte{goregular.TTF, gobold.TTF} {
		parsed, err := opentype.Parse(ttf)
		if err != nil {
			return fmt.Errorf("font: %w", err)
		}
		b.fonts[i] = parsed
	}
	draw.Draw(b.image, b.image.Bounds(), image.White, image.Point{}, draw.Src)
	for _, s := range f.shapes {
		s.png(b)
	}
	if b.err != nil {
		return b.err
	}
	return png.Encode(out, b.image)
}

// paint parses a color of the form #rrggbb and adds an opacity; anything else is gray.
func paint(c string, opacity float64) color.NRGBA {
	alpha := uint8(math.Round(255 * opacity))
	if len(c) != 7 {
		return color.NRGBA{0x80, 0x80, 0x80, alpha}
	}
	v, err := strconv.ParseUint(c[1:], 16, 32)
	if err != nil {
		return color.NRGBA{0x80, 0x80, 0x80, alpha}
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), alpha}
}

// fill fills polygons that have the same orientation. It only processes their bounding box.
func (b *bitmap) fill(c color.Color, polygons ...[]Point) {
	box := image.Rectangle{}
	for _, points := range polygons {
		for _, p := range points {
			x, y := int(math.Floor(p.X*scale)), int(math.Floor(p.Y*scale))
			box = box.Union(image.Rect(x, y, x+2, y+2))
		}
	}
	if box = box.Intersect(b.image.Bounds()); box.Empty() {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, points := range polygons {
		for i, p := range points {
			x, y := float32(p.X*scale)-float32(box.Min.X), float32(p.Y*scale)-float32(box.Min.Y)
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(b.image, box, image.NewUniform(c), image.Point{})
}

func (a area) png(b *bitmap) { b.fill(paint(a.color, a.opacity), a.points) }

func (p path) png(b *bitmap) {
	var pieces [][]Point
	for i := 1; i < len(p.points); i++ {
		from, to := p.points[i-1], p.points[i]
		if !p.dashed {
			pieces = append(pieces, stroke(from, to, p.width))
			continue
		}
		length := math.Hypot(to.X-from.X, to.Y-from.Y)
		for at := 0.0; at < length; at += 9 {
			part := func(d float64) Point {
				d = math.Min(d, length) / length
				return Point{from.X + (to.X-from.X)*d, from.Y + (to.Y-from.Y)*d}
			}
			pieces = append(pieces, stroke(part(at), part(at+5), p.width))
		}
	}
	b.fill(paint(p.color, 1), pieces...)
}

// stroke returns the rectangle of a line segment, with slightly longer ends so that segments join.
func stroke(from, to Point, width float64) []Point {
	dx, dy := to.X-from.X, to.Y-from.Y
	length := math.Hypot(dx, dy)
	if length == 0 {
		return nil
	}
	dx, dy = dx/length*width/2, dy/length*width/2
	return []Point{
		{from.X - dx/2 - dy, from.Y - dy/2 + dx}, {to.X + dx/2 - dy, to.Y + dy/2 + dx},
		{to.X + dx/2 + dy, to.Y + dy/2 - dx}, {from.X - dx/2 + dy, from.Y - dy/2 - dx},
	}
}

func (l label) png(b *bitmap) {
	f := b.face(face{l.size, l.bold})
	if f == nil {
		return
	}
	d := font.Drawer{Dst: b.image, Src: image.NewUniform(paint(l.color, 1)), Face: f}
	x := fixed.Int26_6(l.at.X * scale * 64)
	switch l.anchor {
	case middle:
		x -= d.MeasureString(l.text) / 2
	case end:
		x -= d.MeasureString(l.text)
	case start:
	}
	d.Dot = fixed.Point26_6{X: x, Y: fixed.Int26_6(l.at.Y * scale * 64)}
	d.DrawString(l.text)
}

// face returns a font in a size, or nil after an error.
func (b *bitmap) face(key face) font.Face {
	if f, ok := b.faces[key]; ok {
		return f
	}
	parsed := b.fonts[0]
	if key.bold {
		parsed = b.fonts[1]
	}
	// At 72 dots per inch a point is a pixel.
	o := opentype.FaceOptions{Size: key.size * scale, DPI: 72, Hinting: font.HintingNone}
	f, err := opentype.NewFace(parsed, &o)
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("font: %w", err)
		return nil
	}
	b.faces[key] = f
	return f
}
