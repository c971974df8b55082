package chart

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// svgWriter writes the elements of a figure; the bufio.Writer keeps the first error.
type svgWriter struct{ *bufio.Writer }

// WriteSVG writes the figure as a stand-alone SVG file.
func (f *Figure) WriteSVG(out io.Writer) error {
	w := &svgWriter{bufio.NewWriter(out)}
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" font-family="sans-serif" role="img">`+"\n",
		short(f.Width), short(f.Height), short(f.Width), short(f.Height))
	fmt.Fprintf(w, "<title>%s</title>\n", escaped(f.Title))
	fmt.Fprintf(w, `<rect width="%s" height="%s" fill="#ffffff"/>`+"\n", short(f.Width), short(f.Height))
	for _, s := range f.shapes {
		s.svg(w)
	}
	w.WriteString("</svg>\n")
	return w.Flush()
}

// short formats a coordinate to a tenth of a pixel.
func short(x float64) string {
	s := strconv.FormatFloat(x, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

func (w *svgWriter) points(points []Point) {
	for i, p := range points {
		if i > 0 {
			w.WriteByte(' ')
		}
		w.WriteString(short(p.X) + "," + short(p.Y))
	}
}

func (a area) svg(w *svgWriter) {
	w.WriteString(`<polygon points="`)
	w.points(a.points)
	fmt.Fprintf(w, `" fill="%s"`, a.color)
	if a.opacity < 1 {
		fmt.Fprintf(w, ` fill-opacity="%g"`, a.opacity)
	}
	w.WriteString("/>\n")
}

func (p path) svg(w *svgWriter) {
	w.WriteString(`<polyline points="`)
	w.points(p.points)
	fmt.Fprintf(w, `" fill="none" stroke="%s" stroke-width="%g"`, p.color, p.width)
	if p.dashed {
		w.WriteString(` stroke-dasharray="5 4"`)
	}
	w.WriteString("/>\n")
}

func (l label) svg(w *svgWriter) {
	fmt.Fprintf(w, `<text x="%s" y="%s" font-size="%g" fill="%s"`, short(l.at.X), short(l.at.Y), l.size, l.color)
	if l.anchor != start {
		fmt.Fprintf(w, ` text-anchor="%s"`, [...]string{"start", "middle", "end"}[l.anchor])
	}
	if l.bold {
		w.WriteString(` font-weight="bold"`)
	}
	fmt.Fprintf(w, ">%s</text>\n", escaped(l.text))
}
