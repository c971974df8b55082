package render

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// svg draws SVG elements. The style sheet [colors] makes them light or dark, as the reader prefers.
type svg struct {
	out io.Writer
	by  point
	// file is true for a picture that is a file of its own, whose shapes have attributes besides their classes.
	file bool
}

// paints are the presentation attributes of the styles, in the style sheet's light colors. Browsers prefer the style
// sheet. Programs whose CSS has no variables, such as Inkscape and librsvg, draw the attributes; without them
// everything would be black.
var paints = [...]string{
	small:    `fill="#5f6b7a" font-size="11"`,
	title:    `fill="#16191f" font-size="13" font-weight="600"`,
	heading:  `fill="#16191f" font-size="20" font-weight="600"`,
	number:   `fill="#16191f" font-size="26" font-weight="600"`,
	nothing:  `fill="#5f6b7a" font-size="12" font-style="italic"`,
	alarming: `fill="` + alarmColor + `" font-size="12" font-weight="600"`,
	fine:     `fill="#2ca02c" font-size="12"`,
	prose:    `fill="#16191f" font-size="13"`,
}

// plain returns attributes with a blank before them, or "" for a picture inside a page.
func (s svg) plain(attributes string) string {
	if !s.file {
		return ""
	}
	return " " + attributes
}

// classes are the CSS classes of the styles.
var classes = [...]string{
	small: "small", title: "title", heading: "heading", number: "number", nothing: "none", alarming: "ALARM",
	fine: "OK", prose: "prose",
}

var anchors = [...]string{begins: "", centered: ` text-anchor="middle"`, ends: ` text-anchor="end"`}

func (s svg) moved(by point) canvas { return svg{s.out, s.at(by), s.file} }

func (s svg) at(p point) point { return point{s.by.x + p.x, s.by.y + p.y} }

func (s svg) text(at point, a anchor, st style, text string) {
	at = s.at(at)
	fmt.Fprintf(s.out, `<text class="%s" x="%.1f" y="%.1f"%s%s>%s</text>`, classes[st], at.x, at.y, anchors[a],
		s.plain(paints[st]), html.EscapeString(text))
}

func (s svg) grid(from, to point) { s.line(from, to, "grid", s.plain(`stroke="#e3e6ea"`)) }

func (s svg) mark(from, to point, color string) {
	if color == "" {
		s.line(from, to, "mark", s.plain(`stroke="`+alarmColor+`" stroke-dasharray="4 3"`))
		return
	}
	s.line(from, to, "dashed", ` stroke="`+html.EscapeString(color)+`"`+s.plain(`stroke-dasharray="4 3"`))
}

func (s svg) line(from, to point, class, attributes string) {
	from, to = s.at(from), s.at(to)
	fmt.Fprintf(s.out, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"%s/>`, class, from.x, from.y, to.x,
		to.y, attributes)
}

func (s svg) curve(through []point, color string) {
	fmt.Fprintf(s.out, `<polyline fill="none" stroke="%s" stroke-width="%v" stroke-linejoin="round" points="%s"/>`,
		html.EscapeString(color), curveWidth, s.points(through))
}

func (s svg) points(all []point) string {
	var b strings.Builder
	for i, p := range all {
		if i > 0 {
			b.WriteByte(' ')
		}
		p = s.at(p)
		fmt.Fprintf(&b, "%.1f,%.1f", p.x, p.y)
	}
	return b.String()
}

func (s svg) dot(at point, color, title string) {
	at = s.at(at)
	fmt.Fprintf(s.out, `<circle cx="%.1f" cy="%.1f" r="%v" fill="%s"><title>%s</title></circle>`, at.x, at.y, dotRadius,
		html.EscapeString(color), html.EscapeString(title))
}

func (s svg) bar(b box, color, title string) {
	at := s.at(point{b.x, b.y})
	fmt.Fprintf(s.out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>`, at.x,
		at.y, b.w, b.h, html.EscapeString(color), html.EscapeString(title))
}

func (s svg) swatch(at point, color string) {
	at = s.at(at)
	fmt.Fprintf(s.out, `<rect x="%.1f" y="%.1f" width="%v" height="%[3]v" rx="%v" fill="%s"/>`, at.x, at.y, swatchSize,
		swatchRound, html.EscapeString(color))
}

func (s svg) card(b box) {
	at := s.at(point{b.x, b.y})
	fmt.Fprintf(s.out, "\n"+`<rect class="card" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%v"%s/>`, at.x+0.5,
		at.y+0.5, b.w-1, b.h-1, cardRadius, s.plain(`fill="#fff" stroke="#d5dbdb"`))
}

func (s svg) area(outline []point, color, title string) {
	fmt.Fprintf(s.out, `<polygon points="%s" fill="%s"><title>%s</title></polygon>`, s.points(outline),
		html.EscapeString(color), html.EscapeString(title))
}

func (s svg) shade(b box, color string) {
	at := s.at(point{b.x, b.y})
	fmt.Fprintf(
		s.out,
		`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="%v"/>`,
		at.x,
		at.y,
		b.w,
		b.h,
		html.EscapeString(color),
		shadeShare,
	)
}
