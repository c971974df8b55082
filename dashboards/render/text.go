package render

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

const layoutCSS = `
body{margin:0;padding:16px;background:var(--ground);color:var(--ink);font:14px/1.45 system-ui,sans-serif}
header,main,.alarms{max-width:1400px;margin:0 auto 10px}h1{font-size:20px;margin:0}h2{font-size:15px;margin:8px 0}p{margin:4px 0;color:var(--dim)}
main{display:grid;grid-template-columns:repeat(24,1fr);gap:10px}
section,.alarms{background:var(--card);border:1px solid var(--rim);border-radius:6px;overflow-x:auto}section svg{display:block;width:100%;height:auto}
section>h1,section>h2,section>p,section>table,.alarms>*{margin-left:12px;margin-right:12px}
table{border-collapse:collapse;font-size:12px;margin-bottom:10px}td,th{text-align:left;padding:2px 10px 2px 0;border-bottom:1px solid var(--line);vertical-align:top}
.alarms td:first-child,.alarms td:nth-child(2){white-space:nowrap}
.ALARM{color:var(--alarm);font-weight:600}.OK{color:var(--fine)}
@media(max-width:800px){section{grid-column:1/-1!important}}`

// markdown converts headings, paragraphs and tables to HTML; everything else becomes a paragraph.
func markdown(out io.Writer, text string) {
	inTable, head := false, false
	for _, l := range strings.Split(text, "\n") {
		row := strings.HasPrefix(l, "|")
		if row != inTable {
			fmt.Fprint(out, map[bool]string{true: "<table>", false: "</table>"}[row])
			inTable, head = row, row
		}
		switch {
		case strings.HasPrefix(l, "|---"), l == "":
		case row:
			tableRow(out, l, head)
			head = false
		case strings.HasPrefix(l, "# "):
			fmt.Fprintf(out, "<h1>%s</h1>", html.EscapeString(l[2:]))
		case strings.HasPrefix(l, "## "):
			fmt.Fprintf(out, "<h2>%s</h2>", html.EscapeString(l[3:]))
		default:
			fmt.Fprintf(out, "<p>%s</p>", html.EscapeString(l))
		}
	}
	if inTable {
		fmt.Fprint(out, "</table>")
	}
}

func tableRow(out io.Writer, text string, head bool) {
	cell := "td"
	if head {
		cell = "th"
	}
	fmt.Fprint(out, "<tr>")
	for _, c := range strings.Split(strings.Trim(text, "|"), "|") {
		fmt.Fprintf(out, "<%s>%s</%[1]s>", cell, html.EscapeString(strings.TrimSpace(c)))
	}
	fmt.Fprint(out, "</tr>")
}

// alarmTable writes the table of alarms.
func (p Page) alarmTable(out io.Writer) {
	if len(p.Alarms) == 0 {
		return
	}
	fmt.Fprint(out, `<div class="alarms"><h2>Alarms over this range</h2><table>`)
	for _, a := range p.sortedAlarms() {
		class := a.State
		if a.Tripped {
			class = "ALARM"
		}
		fmt.Fprintf(out, `<tr><td class="%s">%s</td><td>%s</td><td>%s</td></tr>`, html.EscapeString(class),
			html.EscapeString(a.State), html.EscapeString(a.Name), html.EscapeString(a.Text))
	}
	fmt.Fprintln(out, `</table></div>`)
}

// sortedAlarms returns the alarms. Those that fired come first.
func (p Page) sortedAlarms() []Alarm {
	all := slices.Clone(p.Alarms)
	slices.SortStableFunc(all, func(a, b Alarm) int {
		switch {
		case a.Tripped == b.Tripped:
			return 0
		case a.Tripped:
			return -1
		default:
			return 1
		}
	})
	return all
}
