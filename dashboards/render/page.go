package render

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"stepback/retrymetrics/metricmath"
)

// Page is a dashboard to draw.
type Page struct {
	Name string
	Body []byte // the dashboard body
	Data Data
	// Note says what could not be drawn; it may be empty.
	Note string
	// WithData leaves out widgets without data and closes the gaps. It applies to SVG and PNG.
	WithData bool
	// Alarms are shown above the widgets; they may be empty.
	Alarms []Alarm
}

// ok is the state of an alarm that has data and did not fire.
const ok = "OK"

// Alarm is the result of evaluating an alarm over the metric data.
type Alarm struct {
	Name, State, Text string
	// Tripped is true if the alarm was in ALARM at any time.
	Tripped bool
}

// colors is the style sheet. It has colors for light backgrounds, and colors for dark ones if the reader prefers
// these.
const colors = `svg,body{--ground:#f4f5f7;--card:#fff;--ink:#16191f;--dim:#5f6b7a;--line:#e3e6ea;--rim:#d5dbdb;--alarm:#d62728;--fine:#2ca02c}
@media(prefers-color-scheme:dark){svg,body{--ground:#0f141a;--card:#1a212b;--ink:#e6e9ee;--dim:#9aa7b5;--line:#2b3440;--rim:#303b48;--alarm:#ff6b6b;--fine:#5fce6b}}
text{font:12px system-ui,sans-serif;fill:var(--ink)}.small{font-size:11px;fill:var(--dim)}.title{font-size:13px;font-weight:600}
.none{fill:var(--dim);font-style:italic}.grid{stroke:var(--line)}.mark{stroke:var(--alarm);stroke-dasharray:4 3}.number{font-size:26px;font-weight:600}
.heading{font-size:20px;font-weight:600}text.ALARM{fill:var(--alarm);font-weight:600}text.OK{fill:var(--fine)}
.card{fill:var(--card);stroke:var(--rim)}.ground{fill:var(--ground)}`

// span describes the time that the charts cover.
func (p Page) span(g metricmath.Grid) string {
	if g.Len == 0 {
		return "There are no metric data yet: run a state machine first."
	}
	return strings.TrimSpace(fmt.Sprintf("%s to %s UTC; one point per %v. %s", g.At(0).Format("2006-01-02 15:04:05"),
		g.At(g.Len).Format("2006-01-02 15:04:05"), g.Period, clip(p.Note, 160)))
}

// HTML draws the page as a self-contained HTML file.
func (p Page) HTML(out io.Writer) error {
	b, err := parse(p.Body)
	if err != nil {
		return err
	}
	g := p.Data.Grid()
	var page bytes.Buffer
	fmt.Fprintf(&page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s</title>\n<style>%s%s</style></head><body>\n",
		html.EscapeString(p.Name), colors, layoutCSS)
	fmt.Fprintf(&page, "<header><h1>%s</h1><p>%s</p></header>\n", html.EscapeString(p.Name),
		html.EscapeString(p.span(g)))
	p.alarmTable(&page)
	page.WriteString("<main>\n")
	slices.SortStableFunc(b.Widgets, func(a, c widget) int {
		return cmp.Or(cmp.Compare(a.Y, c.Y),
			cmp.Compare(a.X, c.X))
	})
	for _, w := range b.Widgets {
		if w.Type != "text" && w.Type != "metric" {
			continue // alarms are listed in the table
		}
		fmt.Fprintf(&page, `<section style="grid-column:%d/span %d">`, w.X+1, w.Width)
		if w.Type == "text" {
			markdown(&page, w.Properties.Markdown)
		} else {
			width, height := w.size()
			fmt.Fprintf(&page, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`, width, height,
				html.EscapeString(w.Properties.Title))
			if err := w.draw(svg{out: &page}, p.Data, g); err != nil {
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

// Empty returns the titles of the widgets without data, in order. It leaves out widgets that are not drawn because
// they show metrics other than this project's.
func (p Page) Empty() ([]string, error) {
	b, err := parse(p.Body)
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, w := range b.Widgets {
		empty, err := p.empty(w)
		if err != nil {
			return nil, err
		}
		if empty {
			titles = append(titles, w.Properties.Title)
		}
	}
	return titles, nil
}

// empty reports whether a widget has no data.
func (p Page) empty(w widget) (bool, error) {
	if w.Type != "metric" {
		return false, nil
	}
	lines, err := w.lines(p.Data, p.Data.Grid())
	if err != nil {
		if foreign(err) {
			err = nil
		}
		return false, err
	}
	return !slices.ContainsFunc(lines, func(l line) bool { return !l.values.Empty() }), nil
}
