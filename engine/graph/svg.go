package graph

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

// Options control how a picture is written.
type Options struct {
	// Marks are drawn on the machine; nil draws the machine alone.
	Marks *Marks
	// Link returns the target of a click on a state; nil means no links. It applies to SVG only.
	Link func(state string) string
	// Bare leaves out the style sheet, for a page that contains it already; see StyleSheet.
	Bare bool
}

// StyleSheet is the CSS of pictures. It supports light and dark mode.
const StyleSheet = `.sb-graph{font-family:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
--sb-card:#fff;--sb-ink:#1f2328;--sb-dim:#59636e;--sb-edge:#8c959f;--sb-line:#d1d9e0;--sb-box:#f6f8fa;
--sb-ok:#1a7f37;--sb-okbg:#eaf7ed;--sb-bad:#c4232b;--sb-badbg:#fdeeee;--sb-wait:#9a6700;--sb-waitbg:#fff6d6;--sb-run:#0969da;--sb-runbg:#e6f2fe}
@media (prefers-color-scheme:dark){.sb-graph{--sb-card:#1c2128;--sb-ink:#e6edf3;--sb-dim:#9198a1;--sb-edge:#6e7681;--sb-line:#3d444d;--sb-box:#151b23;
--sb-ok:#3fb950;--sb-okbg:#12261a;--sb-bad:#f8766f;--sb-badbg:#2d1618;--sb-wait:#d9a520;--sb-waitbg:#2b2312;--sb-run:#58a6ff;--sb-runbg:#111f33}}
.sb-graph .node rect{fill:var(--sb-card);stroke:var(--sb-line)}.sb-graph .box>rect{fill:var(--sb-box)}
.sb-graph .pill rect{fill:var(--sb-box)}.sb-graph text{fill:var(--sb-ink);font-size:13px}.sb-graph .about{fill:var(--sb-dim);font-size:11px}
.sb-graph .edge{fill:none;stroke:var(--sb-edge);stroke-width:1.25}.sb-graph .head{fill:var(--sb-edge);stroke:none}
.sb-graph .catch .edge{stroke-dasharray:4 3;stroke:var(--sb-bad);opacity:.6}.sb-graph .catch .head{fill:var(--sb-bad);opacity:.6}
.sb-graph .default .edge{stroke-dasharray:1.5 3}.sb-graph .label{fill:var(--sb-dim);font-size:11px;paint-order:stroke;stroke:var(--sb-under,var(--sb-card));stroke-width:7px;stroke-linejoin:round}
.sb-graph .taken .edge{stroke:var(--sb-ink);stroke-width:2;opacity:1}.sb-graph .taken .head{fill:var(--sb-ink);opacity:1}
.sb-graph .catch.taken .edge{stroke:var(--sb-bad)}.sb-graph .catch.taken .head{fill:var(--sb-bad)}
.sb-graph .idle{opacity:.7}.sb-graph .badge{font-size:11px;font-weight:600}
.sb-graph .succeeded>rect{stroke:var(--sb-ok);fill:var(--sb-okbg)}.sb-graph .failed>rect,.sb-graph .timed-out>rect,.sb-graph .caught>rect{stroke:var(--sb-bad);fill:var(--sb-badbg)}
.sb-graph .caught>rect{stroke-dasharray:5 3}.sb-graph .running>rect{stroke:var(--sb-run);fill:var(--sb-runbg);stroke-width:2}
.sb-graph .waiting>rect{stroke:var(--sb-wait);fill:var(--sb-waitbg);stroke-width:2}.sb-graph .aborted>rect{stroke:var(--sb-dim);stroke-dasharray:2 3}
.sb-graph .box.succeeded>rect,.sb-graph .box.failed>rect,.sb-graph .box.running>rect,.sb-graph .box.waiting>rect,.sb-graph .box.caught>rect{fill:var(--sb-box)}
.sb-graph a:focus-visible rect{outline:2px solid var(--sb-run);outline-offset:2px}`

// background is the background of a standalone picture.
const background = `.sb-graph>.ground{fill:#fff}@media (prefers-color-scheme:dark){.sb-graph>.ground{fill:#0d1117}}
.sb-graph{--sb-under:#fff}@media (prefers-color-scheme:dark){.sb-graph{--sb-under:#0d1117}}`

// SVG writes the picture. States that an execution entered have a class named after their outcome.
func (g *Graph) SVG(to io.Writer, o Options) error {
	w := bufio.NewWriter(to)
	title := g.Title
	if title == "" {
		title = "State machine"
	}
	role := "img"
	if o.Link != nil {
		role = "group" // an image has no links
	}
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" class="sb-graph" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="%[4]s" aria-label="%[3]s"%[5]s><title>%[3]s</title>`,
		number(g.Width), number(g.Height), escape(title), role, o.plain(`font-family="system-ui,sans-serif" font-size="13"`))
	if !o.Bare {
		fmt.Fprintf(w, `<style>%s%s</style><rect class="ground" width="100%%" height="100%%" fill="#fff"/>`, StyleSheet, background)
	}
	w.WriteByte('\n')
	for _, n := range g.Nodes { // the boxes first, so that lines are drawn over them
		if n.Box() {
			g.node(w, n, o)
		}
	}
	for _, taken := range []bool{false, true} {
		for _, e := range g.Edges {
			if o.Marks.took(e) == taken {
				edge(w, e, taken, o)
			}
		}
	}
	for _, e := range g.Edges { // after the lines, so that no line crosses a label
		if e.Label != "" {
			e.label(w, o)
		}
	}
	for _, n := range g.Nodes {
		if !n.Box() {
			g.node(w, n, o)
		}
	}
	w.WriteString("</svg>\n")
	return w.Flush()
}

// node writes a state.
func (g *Graph) node(w *bufio.Writer, n *Node, o Options) {
	class, radius := "node", 5.0
	mark := o.Marks.mark(n.Name)
	switch {
	case n.Type == "":
		class, radius, mark = "node pill", n.Height/2, nil
	case n.Box():
		class, radius = "node box", 8
	}
	if mark != nil {
		class += " " + strings.ReplaceAll(string(mark.Outcome), " ", "-")
	} else if o.Marks != nil && n.Type != "" {
		class += " idle"
	}
	if o.Link != nil && n.Type != "" {
		fmt.Fprintf(w, `<a href="%s">`, escape(o.Link(n.Name)))
		defer w.WriteString("</a>\n")
	}
	fmt.Fprintf(w, `<g class="%s"><rect x="%s" y="%s" width="%s" height="%s" rx="%s"%s/>`, class, number(n.X), number(n.Y),
		number(n.Width), number(n.Height), number(radius), o.plain(n.paint(mark)))
	if n.Type == "" {
		fmt.Fprintf(w, `<text class="about" x="%s" y="%s" text-anchor="middle"%s>%s</text></g>`, number(n.X+n.Width/2),
			number(n.Y+n.Height/2+4), o.plain(paintAbout), escape(n.Name))
		return
	}
	fmt.Fprintf(w, `<title>%s</title>`, escape(n.tooltip(mark)))
	fmt.Fprintf(w, `<text x="%s" y="%s"%s>%s</text>`, number(n.X+textPad), number(n.Y+17), o.plain(paintName),
		escape(fit(n.Name, nameSize, n.Width-2*textPad)))
	fmt.Fprintf(w, `<text class="about" x="%s" y="%s"%s>%s</text>`, number(n.X+textPad), number(n.Y+32), o.plain(paintAbout),
		escape(n.second(mark)))
	w.WriteString("</g>\n")
}

// second returns the second line of a state: its description, and what happened in it.
func (n *Node) second(mark *Mark) string {
	text, said := n.About, ""
	if mark != nil {
		said = mark.Text()
	}
	if said == "" {
		if n.Retries && mark == nil {
			said = "retries"
		} else {
			return fit(text, aboutSize, n.Width-2*textPad)
		}
	}
	const between = " · "
	if both := text + between + said; textWidth(both, aboutSize) <= n.Width-2*textPad+0.5 {
		return both
	}
	return fit(said, aboutSize, n.Width-2*textPad)
}

func (n *Node) tooltip(mark *Mark) string {
	text := n.Name + " (" + string(n.Type)
	if n.About != string(n.Type) {
		text += ", " + n.About
	}
	text += ")"
	if n.Retries {
		text += ", retries"
	}
	if mark != nil {
		text += ": " + string(mark.Outcome)
		if said := mark.Text(); said != "" {
			text += ", " + said
		}
	}
	return text
}

// edge writes a transition.
func edge(w *bufio.Writer, e *Edge, taken bool, o Options) {
	class := e.Kind.String()
	if taken {
		class += " taken"
	}
	fmt.Fprintf(w, `<g class="%s">`, class)
	if e.Title != "" {
		fmt.Fprintf(w, `<title>%s</title>`, escape(e.From+" → "+e.To+": "+e.Title))
	}
	end := e.end()
	fmt.Fprintf(w, `<path class="edge" d="M%s %s`, number(e.Points[0].X), number(e.Points[0].Y))
	for _, c := range e.curves() {
		if c[0] == c[1] && c[1] == c[2] {
			fmt.Fprintf(w, "L%s %s", number(c[2].X), number(c[2].Y))
			continue
		}
		fmt.Fprintf(w, "C%s %s %s %s %s %s", number(c[0].X), number(c[0].Y), number(c[1].X), number(c[1].Y),
			number(c[2].X), number(c[2].Y))
	}
	line, head := e.paint(taken)
	fmt.Fprintf(w, `"%s/>`, o.plain(line))
	if !e.Trunk {
		h := e.head(end)
		fmt.Fprintf(w, `<path class="head" d="M%s %sL%s %sL%s %sZ"%s/>`, number(h[0].X), number(h[0].Y), number(h[1].X),
			number(h[1].Y), number(h[2].X), number(h[2].Y), o.plain(head))
	}
	w.WriteString("</g>\n")
}

// label writes the condition of a transition.
func (e *Edge) label(w *bufio.Writer, o Options) {
	at := e.labelAt()
	fmt.Fprintf(w, `<text class="label" x="%s" y="%s" text-anchor="middle"%s>%s</text>`+"\n", number(at.X), number(at.Y),
		o.plain(paintLabel), escape(e.Label))
}

// end returns the end point of the line.
func (e *Edge) end() Point { return e.Points[len(e.Points)-1] }

// loop reports whether the edge goes from a state to itself.
func (e *Edge) loop() bool { return e.From == e.To && len(e.Points) == 3 }

// curves returns the cubic curves of the line. Each has two control points and an end point. In a straight one,
// these three points are equal.
func (e *Edge) curves() [][3]Point {
	if e.loop() {
		a, b, c := e.Points[0], e.Points[1], e.Points[2]
		return [][3]Point{{{b.X, a.Y}, {b.X, c.Y}, c}}
	}
	var out [][3]Point
	for i := 1; i < len(e.Points); i++ {
		p, q := e.Points[i-1], e.Points[i]
		if p.X == q.X {
			out = append(out, [3]Point{q, q, q})
			continue
		}
		bend := (q.Y - p.Y) / 2
		out = append(out, [3]Point{{p.X, p.Y + bend}, {q.X, q.Y - bend}, q})
	}
	return out
}

// head returns the triangle of the arrow.
func (e *Edge) head(at Point) [3]Point {
	const long, wide = 7.0, 3.5
	if e.loop() {
		return [3]Point{at, {at.X + long, at.Y - wide}, {at.X + long, at.Y + wide}}
	}
	back := -long
	if e.Up {
		back = long
	}
	return [3]Point{at, {at.X - wide, at.Y + back}, {at.X + wide, at.Y + back}}
}

// labelAt returns the centre of a label, on the line to the first bend. Adjacent labels are at different heights.
func (e *Edge) labelAt() Point {
	p, q := e.Points[0], e.Points[1]
	t := 0.72
	if e.row == 1 {
		t = 0.45
	}
	x := p.X + (q.X-p.X)*(3*t*t-2*t*t*t)
	return Point{x, p.Y + (q.Y-p.Y)*t + 3}
}

// number formats a coordinate with at most one decimal.
func number(f float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0")
}

// escape makes text safe for SVG. Characters not allowed in XML, and marks that change the direction of the
// surrounding text, become U+FFFD.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		switch {
		case r < ' ' && r != '\n' && r != '\t', r == 0xFFFE, r == 0xFFFF, r >= 0x202A && r <= 0x202E,
			r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F:
			return 0xFFFD
		}
		return r
	}, s))
}
