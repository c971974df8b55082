package render

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"

	"stepback/retrymetrics"
	"stepback/retrymetrics/metricmath"
)

// Page is what is drawn.
type Page struct {
	Name   string
	Body   []byte // the dashboard body
	Points []retrymetrics.Point
	// Alarms are shown above the widgets, if there are any.
	Alarms []Alarm
}

// Alarm is one alarm's outcome over the metric data.
type Alarm struct {
	Name, State, Text string
	// Tripped says that it was in ALARM at any time.
	Tripped bool
}

const (
	column, unitHeight = 56.0, 44.0 // pixels of the grid
	gap                = 10.0
	headHeight         = 26.0
)

// colors are those of light ground, and of dark ground where that is preferred.
const colors = `svg,body{--ground:#f4f5f7;--card:#fff;--ink:#16191f;--dim:#5f6b7a;--line:#e3e6ea;--rim:#d5dbdb;--alarm:#d62728;--fine:#2ca02c}
@media(prefers-color-scheme:dark){svg,body{--ground:#0f141a;--card:#1a212b;--ink:#e6e9ee;--dim:#9aa7b5;--line:#2b3440;--rim:#303b48;--alarm:#ff6b6b;--fine:#5fce6b}}
text{font:12px system-ui,sans-serif;fill:var(--ink)}.small{font-size:11px;fill:var(--dim)}.title{font-size:13px;font-weight:600}
.none{fill:var(--dim);font-style:italic}.grid{stroke:var(--line)}.mark{stroke:var(--alarm);stroke-dasharray:4 3}.number{font-size:26px;font-weight:600}
.card{fill:var(--card);stroke:var(--rim)}.ground{fill:var(--ground)}`

// span tells what the charts cover.
func (p Page) span(g metricmath.Grid) string {
	if len(p.Points) == 0 {
		return "There are no metric data yet: run an import first."
	}
	return fmt.Sprintf("%s to %s UTC; one point per %v.", g.At(0).Format("2006-01-02 15:04:05"), g.At(g.Len).Format("2006-01-02 15:04:05"), g.Period)
}

// HTML draws the page as a self-contained HTML file.
func (p Page) HTML(out io.Writer) error {
	b, err := parse(p.Body)
	if err != nil {
		return err
	}
	g := automatic(p.Points)
	var page bytes.Buffer
	fmt.Fprintf(&page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s</title>\n<style>%s%s</style></head><body>\n",
		html.EscapeString(p.Name), colors, layoutCSS)
	fmt.Fprintf(&page, "<header><h1>%s</h1><p>%s</p></header>\n", html.EscapeString(p.Name), html.EscapeString(p.span(g)))
	p.alarms(&page)
	page.WriteString("<main>\n")
	slices.SortStableFunc(b.Widgets, func(a, c widget) int { return cmp.Or(cmp.Compare(a.Y, c.Y), cmp.Compare(a.X, c.X)) })
	for _, w := range b.Widgets {
		fmt.Fprintf(&page, `<section style="grid-column:%d/span %d">`, w.X+1, w.Width)
		if w.Type == "text" {
			markdown(&page, w.Properties.Markdown)
		} else {
			width, height := w.size()
			fmt.Fprintf(&page, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`, width, height, html.EscapeString(w.Properties.Title))
			if err := w.draw(&page, p.Points, g, width, height); err != nil {
				return err
			}
			page.WriteString("</svg>")
		}
		page.WriteString("</section>\n")
	}
	page.WriteString("</main></body></html>\n")
	_, err = out.Write(page.Bytes())
	return err
}

// SVG draws the metric widgets as one self-contained SVG file. Texts and alarms are left to HTML.
func (p Page) SVG(out io.Writer) error {
	b, err := parse(p.Body)
	if err != nil {
		return err
	}
	b.Widgets = slices.DeleteFunc(b.Widgets, func(w widget) bool { return w.Type != "metric" })
	g := automatic(p.Points)
	first, last := 0, 0
	for i, w := range b.Widgets {
		if i == 0 || w.Y < first {
			first = w.Y
		}
		last = max(last, w.Y+w.Height)
	}
	const head = 60.0
	width, height := 24*column+gap, float64(last-first)*unitHeight+head+gap
	var page bytes.Buffer
	fmt.Fprintf(&page, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\"><style>%s</style>\n", width, height, width, height, colors)
	fmt.Fprintf(&page, `<rect class="ground" width="100%%" height="100%%"/><text class="number" x="%.0f" y="30" style="font-size:20px">%s</text><text class="small" x="%.0f" y="48">%s</text>`,
		gap, html.EscapeString(p.Name), gap, html.EscapeString(p.span(g)))
	for _, w := range b.Widgets {
		width, height := w.size()
		fmt.Fprintf(&page, "\n<svg x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\">", float64(w.X)*column+gap, float64(w.Y-first)*unitHeight+head, width, height)
		fmt.Fprintf(&page, `<rect class="card" x="0.5" y="0.5" width="%.0f" height="%.0f" rx="6"/>`, width-1, height-1)
		if err := w.draw(&page, p.Points, g, width, height); err != nil {
			return err
		}
		page.WriteString("</svg>")
	}
	page.WriteString("\n</svg>\n")
	_, err = out.Write(page.Bytes())
	return err
}

func (w widget) size() (width, height float64) {
	return float64(w.Width)*column - gap, float64(w.Height)*unitHeight - gap
}

// draw draws a widget with its title.
func (w widget) draw(out io.Writer, points []retrymetrics.Point, g metricmath.Grid, width, height float64) error {
	fmt.Fprintf(out, `<text class="title" x="12" y="20">%s</text>`, html.EscapeString(w.Properties.Title))
	if w.Type != "metric" {
		return nil
	}
	if w.Properties.View == "singleValue" {
		lines, err := w.lines(points, whole())
		if err != nil {
			return err
		}
		number(out, lines)
		return nil
	}
	lines, err := w.lines(points, g)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `<text class="small" x="%.1f" y="20" text-anchor="end">%s</text>`, width-marginRight, html.EscapeString(w.Properties.YAxis.Left.Label))
	fmt.Fprintf(out, `<g transform="translate(0 %.0f)">`, headHeight)
	w.chart(out, lines, g, width, height-headHeight-4)
	fmt.Fprint(out, `</g>`)
	return nil
}

// number writes values large.
func number(out io.Writer, lines []line) {
	for i, l := range lines {
		fmt.Fprintf(out, `<text class="number" x="12" y="%d">%s</text><text class="small" x="12" y="%d">%s</text>`,
			58+i*50, short(l.values[0]), 80+i*50, html.EscapeString(l.label))
	}
}
