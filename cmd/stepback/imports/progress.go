package imports

import (
	"fmt"
	"strings"
	"time"

	"stepback/asl/source"
	"stepback/cmd/stepback/terminal"
	"stepback/csvimport/pipeline"
)

// progress shows the progress of a run. On a terminal it is a bar that is redrawn; elsewhere it is a plain line
// every few seconds.
type progress struct {
	std   terminal.Streams
	name  string
	began time.Time
	last  time.Time
	stage string
	drawn bool
}

// plainEvery is the interval between lines if there is no terminal.
const plainEvery = 5 * time.Second

func newProgress(std terminal.Streams, name string) *progress {
	now := time.Now()
	return &progress{std: std, name: name, began: now, last: now}
}

func (p *progress) update(g pipeline.Progress) {
	now := time.Now()
	if p.std.Terminal {
		p.draw(g, now)
		return
	}
	if g.Stage == p.stage && now.Sub(p.last) < plainEvery {
		return
	}
	p.last, p.stage = now, g.Stage
	line := fmt.Sprintf("%s: %s", p.name, g.Stage)
	switch {
	case g.Ranges > 0:
		line += fmt.Sprintf(", %d of %d parts validated", g.Validated, g.Ranges)
	case counting(g):
		line += fmt.Sprintf(", %s of %s", terminal.Grouped(min(g.Done, g.Total)), terminal.Counted(g.Total, "row"))
		if g.Parts > 0 {
			line += fmt.Sprintf(", part %d of %d", g.Part, g.Parts)
		}
	}
	fmt.Fprintln(p.std.Err, line+failures(g))
}

// counting reports whether rows are being processed.
func counting(g pipeline.Progress) bool { return g.Total > 0 && g.Done+g.Children > 0 }

// failures returns the number of failed attempts and the latest error, or "" if none failed. It shows a user who
// waits for an unreachable database what is wrong.
func failures(g pipeline.Progress) string {
	if g.Failed == 0 {
		return ""
	}
	return fmt.Sprintf(", %s failed (latest: %s)", terminal.Counted(g.Failed, "attempt"), g.Error)
}

// linePart is a part of the progress line on a terminal. Parts are shown in the given order. If they do not all
// fit, those with the lowest ranks are kept.
type linePart struct {
	rank int
	text string
}

// draw draws the progress line on a terminal. If there is no space for both the failures and the bar, it shows the
// failures.
func (p *progress) draw(g pipeline.Progress, now time.Time) {
	elapsed := fmt.Sprintf("%ds", int(now.Sub(p.began).Seconds()))
	parts := append(make([]linePart, 0, 10), linePart{0, g.Stage}, linePart{1, "  " + elapsed})
	switch {
	case counting(g):
		done := min(g.Done, g.Total)
		full := int(int64(barCells) * done / g.Total)
		failed, latest := "", ""
		if g.Failed > 0 {
			failed, latest = fmt.Sprintf(", %s failed", terminal.Grouped(g.Failed)), " ("+g.Error+")"
		}
		parts = []linePart{
			{4, "[" + strings.Repeat("#", full) + strings.Repeat(".", barCells-full) + "]  "},
			{0, fmt.Sprintf("%s/%s", terminal.Grouped(done), terminal.Counted(g.Total, "row"))},
			{2, failed}, {3, latest},
			{1, "  " + elapsed}, {5, p.left(done, g.Total, now)},
			{6, "  " + g.Stage}, {7, fmt.Sprintf(", %d children", g.Children)},
		}
		if g.Parts > 0 {
			parts = append(parts, linePart{6, fmt.Sprintf(", part %d/%d", g.Part, g.Parts)})
		}
	case g.Ranges > 0:
		parts = append(parts, linePart{0, fmt.Sprintf("  %d/%d parts", g.Validated, g.Ranges)})
	case g.Failed > 0:
		parts = append(parts, linePart{2, failures(g)})
	}
	parts = append(parts, linePart{8, "  " + p.name})
	fmt.Fprintf(p.std.Err, "\r\x1b[K%s", inRoom(parts, p.std.Width-1))
	p.drawn = true
}

// left returns how long the remaining rows will take at the rate so far, or "" while it cannot be estimated.
func (p *progress) left(done, total int64, now time.Time) string {
	const soon = time.Second
	passed := now.Sub(p.began)
	if done == 0 || done >= total || passed < soon {
		return ""
	}
	left := time.Duration(float64(passed) / float64(done) * float64(total-done))
	return fmt.Sprintf(", %s/s, %s left", terminal.Grouped(int64(float64(done)/passed.Seconds())), terminal.Duration(left.Round(time.Second)))
}

// inRoom joins the parts that fit into room terminal cells. Parts with a low rank are chosen first.
func inRoom(parts []linePart, room int) string {
	kept := make([]bool, len(parts))
	for rank := range len(parts) + 1 {
		for i, part := range parts {
			if part.rank == rank && source.Cells(part.text) <= room {
				room -= source.Cells(part.text)
				kept[i] = true
			}
		}
	}
	var text strings.Builder
	for i, part := range parts {
		if kept[i] {
			text.WriteString(part.text)
		}
	}
	return strings.TrimLeft(text.String(), " ")
}

// barCells is the number of cells between the bar's brackets.
const barCells = 16

// done erases the bar.
func (p *progress) done() {
	if p.drawn {
		fmt.Fprint(p.std.Err, "\r\x1b[K")
	}
}
