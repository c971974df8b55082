package render

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// bitmap draws on an image with a light background. One pixel of the canvas is scaling image pixels wide.
type bitmap struct {
	image *image.RGBA
	faces faces
	by    point
}

// scaling is the number of image pixels per canvas pixel. At 2, texts are sharp on dense screens.
const scaling = 2

// The style sheet's colors for a light background.
var (
	groundColor = color.RGBA{0xf4, 0xf5, 0xf7, 0xff}
	cardColor   = color.RGBA{0xff, 0xff, 0xff, 0xff}
	inkColor    = color.RGBA{0x16, 0x19, 0x1f, 0xff}
	dimColor    = color.RGBA{0x5f, 0x6b, 0x7a, 0xff}
	lineColor   = color.RGBA{0xe3, 0xe6, 0xea, 0xff}
	rimColor    = color.RGBA{0xd5, 0xdb, 0xdb, 0xff}
	fineColor   = color.RGBA{0x2c, 0xa0, 0x2c, 0xff}
)

// newBitmap returns a canvas of a size in canvas pixels, with its background.
func newBitmap(width, height float64) (bitmap, error) {
	f, err := newFaces()
	if err != nil {
		return bitmap{}, err
	}
	m := image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*scaling)), int(math.Ceil(height*scaling))))
	draw.Draw(m, m.Bounds(), image.NewUniform(groundColor), image.Point{}, draw.Src)
	return bitmap{image: m, faces: f}, nil
}

func (b bitmap) moved(by point) canvas {
	b.by = point{b.by.x + by.x, b.by.y + by.y}
	return b
}

func (b bitmap) at(p point) point { return point{(b.by.x + p.x) * scaling, (b.by.y + p.y) * scaling} }

func (b bitmap) text(at point, a anchor, s style, text string) {
	d := font.Drawer{Dst: b.image, Src: image.NewUniform(inks[s]), Face: b.faces[s]}
	at = b.at(at)
	x := fixed.Int26_6(at.x * 64)
	switch a {
	case begins:
	case centered:
		x -= d.MeasureString(text) / 2
	case ends:
		x -= d.MeasureString(text)
	}
	d.Dot = fixed.Point26_6{X: x, Y: fixed.Int26_6(at.y * 64)}
	d.DrawString(text)
}

func (b bitmap) grid(from, to point) { b.stroke([]point{from, to}, 1, lineColor) }

func (b bitmap) mark(from, to point, name string) {
	if name == "" {
		name = alarmColor
	}
	length := math.Hypot(to.x-from.x, to.y-from.y)
	along := func(d float64) point {
		return point{from.x + (to.x-from.x)*d/length, from.y + (to.y-from.y)*d/length}
	}
	for d := 0.0; d < length; d += markDash + markGap {
		b.stroke([]point{along(d), along(min(d+markDash, length))}, 1, colorOf(name))
	}
}

func (b bitmap) curve(through []point, name string) { b.stroke(through, curveWidth, colorOf(name)) }

func (b bitmap) dot(at point, name, _ string) {
	var p path
	p.circle(b.at(at), dotRadius*scaling)
	b.fill(p, colorOf(name))
}

func (b bitmap) bar(r box, name, _ string) { b.rounded(r, 0, colorOf(name)) }

func (b bitmap) area(outline []point, name, _ string) {
	moved := make([]point, len(outline))
	for i, q := range outline {
		moved[i] = b.at(q)
	}
	b.fill(path{moved}, colorOf(name))
}

func (b bitmap) shade(r box, name string) {
	c, _ := colorOf(name).(color.RGBA) // it always is one
	b.rounded(r, 0, color.NRGBA{c.R, c.G, c.B, uint8(math.Round(shadeShare * 255))})
}

func (b bitmap) swatch(at point, name string) {
	b.rounded(box{at.x, at.y, swatchSize, swatchSize}, swatchRound, colorOf(name))
}

func (b bitmap) card(r box) {
	b.rounded(r, cardRadius, rimColor)
	b.rounded(box{r.x + 1, r.y + 1, r.w - 2, r.h - 2}, cardRadius-1, cardColor)
}

func (b bitmap) rounded(r box, radius float64, c color.Color) {
	from, to := b.at(point{r.x, r.y}), b.at(point{r.x + r.w, r.y + r.h})
	var p path
	p.rounded(from, to, radius*scaling)
	b.fill(p, c)
}

func (b bitmap) stroke(through []point, width float64, c color.Color) {
	var p path
	half := width * scaling / 2
	for i, q := range through {
		q = b.at(q)
		if i > 0 {
			p.segment(b.at(through[i-1]), q, half)
		}
		if i > 0 && i < len(through)-1 {
			p.circle(q, half)
		}
	}
	b.fill(p, c)
}

// fill fills a path with antialiased edges.
func (b bitmap) fill(p path, c color.Color) {
	bounds := p.bounds().Intersect(b.image.Bounds())
	if bounds.Empty() {
		return
	}
	r := vector.NewRasterizer(bounds.Dx(), bounds.Dy())
	for _, outline := range p {
		for i, q := range outline {
			x, y := float32(q.x-float64(bounds.Min.X)), float32(q.y-float64(bounds.Min.Y))
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(b.image, bounds, image.NewUniform(c), image.Point{})
}

// colorOf parses #rrggbb. Any other CSS color becomes gray.
func colorOf(name string) color.Color {
	v, err := strconv.ParseUint(strings.TrimPrefix(name, "#"), 16, 32)
	if err != nil || len(name) != len("#rrggbb") {
		return color.RGBA{0x7f, 0x7f, 0x7f, 0xff}
	}
	return color.RGBA{byte(v >> 16), byte(v >> 8), byte(v), 0xff}
}
