// Package render draws any CloudWatch dashboard as one self-contained page, in HTML, SVG or PNG, so that it can be
// viewed without CloudWatch. Load parses a dashboard body and asks a Source for the data of its widgets; drawing a page
// needs nothing else, and pages run no scripts. What a widget cannot show, it says in its own place.
package render

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"io"
	"slices"
	"strings"
)

// Page is a dashboard with its data.
type Page struct {
	Name    string
	Window  Window
	Widgets []Widget
	// Note says what could not be drawn; it may be empty.
	Note string
	// WithData leaves out widgets without data and closes the gaps. It applies to SVG and PNG.
	WithData bool
	// Alarms are shown above the widgets; they may be empty.
	Alarms []Alarm
}

// StyleSheet is the style sheet of pictures, whose root element has the class dash. It has colors for light
// backgrounds, and colors for dark ones if the reader prefers these.
const StyleSheet = `.dash{--ground:#f4f5f7;--card:#fff;--ink:#16191f;--dim:#5f6b7a;--line:#e3e6ea;--rim:#d5dbdb;--alarm:#d62728;--fine:#2ca02c}
@media(prefers-color-scheme:dark){.dash{--ground:#0f141a;--card:#1a212b;--ink:#e6e9ee;--dim:#9aa7b5;--line:#2b3440;--rim:#303b48;--alarm:#ff6b6b;--fine:#5fce6b}}
.dash text{font:12px system-ui,sans-serif;fill:var(--ink)}.dash .small{font-size:11px;fill:var(--dim)}.dash .title{font-size:13px;font-weight:600}
.dash .none{fill:var(--dim);font-style:italic}.dash .grid{stroke:var(--line)}.dash .mark{stroke:var(--alarm);stroke-dasharray:4 3}.dash .dashed{stroke-dasharray:4 3}
.dash .number{font-size:26px;font-weight:600}.dash .prose{font-size:13px}
.dash .heading{font-size:20px;font-weight:600}.dash text.ALARM{fill:var(--alarm);font-weight:600}.dash text.OK{fill:var(--fine)}
.dash .card{fill:var(--card);stroke:var(--rim)}.dash .ground{fill:var(--ground)}`

const layoutCSS = `
body{margin:0;padding:16px;background:var(--ground);color:var(--ink);font:14px/1.45 system-ui,sans-serif}
header,main,.alarms{max-width:1400px;margin:0 auto 10px}h1{font-size:20px;margin:0}h2{font-size:17px;margin:8px 0}h3,h4{font-size:14px;margin:8px 0}p,li{margin:4px 0;color:var(--dim)}
a{color:inherit}main{display:grid;grid-template-columns:repeat(24,1fr);gap:10px}
section,.alarms{background:var(--card);border:1px solid var(--rim);border-radius:6px;overflow-x:auto}section svg{display:block;width:100%;height:auto}
.text,.alarms,details{padding:0 12px}summary{color:var(--dim);font-size:12px;cursor:pointer}
table{border-collapse:collapse;font-size:12px;margin-bottom:10px}td,th{text-align:left;padding:2px 10px 2px 0;border-bottom:1px solid var(--line);vertical-align:top}
.alarms td:first-child,.alarms td:nth-child(2){white-space:nowrap}
.ALARM{color:var(--alarm);font-weight:600}.OK{color:var(--fine)}
@media(max-width:800px){section{grid-column:1/-1!important}}`

// span describes the time that the charts cover.
func (p *Page) span() string {
	const layout = "2006-01-02 15:04:05"
	if p.Window.From.IsZero() {
		return "There are no metric data yet: run a state machine first."
	}
	text := p.Window.From.UTC().Format(layout) + " to " + p.Window.To.UTC().Format(layout) + " UTC"
	if p.Window.Period > 0 {
		text += fmt.Sprintf("; one point per %v", p.Window.Period)
	}
	return strings.TrimSpace(text + ". " + clip(p.Note, 160))
}

// Ordered returns the widgets from top to bottom and from left to right.
func (p *Page) Ordered() []*Widget {
	all := make([]*Widget, len(p.Widgets))
	for i := range p.Widgets {
		all[i] = &p.Widgets[i]
	}
	slices.SortStableFunc(all, func(a, b *Widget) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	return all
}

// Picture is a widget as SVG to embed in a page that has the style sheet.
type Picture struct {
	SVG template.HTML
	// Plot is the part of the picture that a time series fills; zero for other widgets. Width is the width of the
	// picture, in the same pixels.
	Plot  Plot
	Width float64
}

// Picture draws the widget.
func (w *Widget) Picture(window Window) Picture {
	var b bytes.Buffer
	width, height := w.size()
	fmt.Fprintf(&b, `<svg class="dash" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`, width, height,
		html.EscapeString(w.Described()))
	plot := w.draw(svg{out: &b}, window)
	b.WriteString("</svg>")
	return Picture{template.HTML(b.String()), plot, width} //nolint:gosec // svg escapes all texts
}

// Described describes a widget in words, for readers who do not see it: its title, and what is not drawn or how many
// lines it has.
func (w *Widget) Described() string {
	text := cmp.Or(w.Title, w.Type+" widget")
	switch {
	case w.Problem != "":
		return text + ": not drawn: " + w.Problem
	case w.Type == typeAlarm:
		return text + ": " + counts(w.Alarms)
	case w.Empty():
		return text + ": no data"
	case len(w.Lines) == 1 && w.single():
		return text + ": " + short(w.Lines[0].Last()) + " " + w.Lines[0].Label
	case len(w.Lines) > 0:
		return fmt.Sprintf("%s: %s of %d rows; the figures are in the table below", text, w.View, len(w.Lines))
	}
	return text
}

// Details returns the table behind a widget's picture: the result of its log query, or the figures of its lines. ok is
// false if there is none.
func (w *Widget) Details() (t Table, ok bool) {
	switch {
	case w.Problem != "":
		return Table{}, false
	case w.Table != nil:
		return *w.Table, len(w.Table.Rows) > 0
	case len(w.Lines) > 0:
		return w.summary(), true
	}
	return Table{}, false
}

// HTML draws the page as a self-contained HTML file.
func (p Page) HTML(out io.Writer) error {
	var page bytes.Buffer
	fmt.Fprintf(&page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s</title>\n<style>%s%s</style></head><body class=\"dash\">\n",
		html.EscapeString(p.Name), StyleSheet, layoutCSS)
	fmt.Fprintf(&page, "<header><h1>%s</h1><p>%s</p></header>\n", html.EscapeString(p.Name),
		html.EscapeString(p.span()))
	p.alarmTable(&page)
	page.WriteString("<main>\n")
	for _, w := range p.Ordered() {
		fmt.Fprintf(&page, `<section style="grid-column:%d/span %d">`, w.X+1, w.Width)
		if w.Type == typeText && w.Problem == "" {
			fmt.Fprintf(&page, `<div class="text">%s</div>`, w.HTML(nil))
		} else {
			page.WriteString(string(w.Picture(p.Window).SVG))
			if t, ok := w.Details(); ok {
				page.WriteString("<details><summary>figures</summary>")
				t.html(&page)
				page.WriteString("</details>")
			}
		}
		page.WriteString("</section>\n")
	}
	page.WriteString("</main></body></html>\n")
	_, err := out.Write(page.Bytes())
	return err
}

func (t *Table) html(out io.Writer) {
	fmt.Fprint(out, "<table><tr>")
	for _, c := range t.Columns {
		fmt.Fprintf(out, "<th>%s</th>", html.EscapeString(c))
	}
	for _, r := range t.Rows {
		fmt.Fprint(out, "</tr><tr>")
		for _, c := range r {
			fmt.Fprintf(out, "<td>%s</td>", html.EscapeString(c))
		}
	}
	fmt.Fprint(out, "</tr></table>")
}

// alarmTable writes the table of alarms: those that fired with their texts, the others folded.
func (p *Page) alarmTable(out io.Writer) {
	if len(p.Alarms) == 0 {
		return
	}
	all := slices.Clone(p.Alarms)
	sortAlarms(all)
	fired := slices.IndexFunc(all, func(a Alarm) bool { return !a.Tripped })
	if fired < 0 {
		fired = len(all)
	}
	rows := func(of []Alarm) {
		fmt.Fprint(out, "<table>")
		for _, a := range of {
			class := a.State
			if a.Tripped {
				class = Alarming
			}
			fmt.Fprintf(out, `<tr><td class="%s">%s</td><td>%s</td><td>%s</td></tr>`, html.EscapeString(class),
				html.EscapeString(a.State), html.EscapeString(a.Name), html.EscapeString(a.Text))
		}
		fmt.Fprint(out, "</table>")
	}
	fmt.Fprintf(out, `<div class="alarms"><h2>Alarms over this range: %s</h2>`, counts(all))
	if fired > 0 {
		rows(all[:fired])
	}
	if fired < len(all) {
		fmt.Fprint(out, "<details><summary>the others</summary>")
		rows(all[fired:])
		fmt.Fprint(out, "</details>")
	}
	fmt.Fprintln(out, `</div>`)
}

// Empty returns the titles of the widgets without data, in order. It leaves out widgets that are not drawn for another
// reason.
func (p *Page) Empty() []string {
	var titles []string
	for _, w := range p.Ordered() {
		if w.Empty() {
			titles = append(titles, w.Title)
		}
	}
	return titles
}
