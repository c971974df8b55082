package main

import (
	"fmt"
	"strings"
	"time"

	"stepback/asl/source"
	"stepback/pipeline"
)

// progress shows how far a run is: a bar that is redrawn on a terminal, a plain line every few seconds elsewhere.
type progress struct {
	std   streams
	name  string
	began time.Time
	last  time.Time
	stage string
	drawn bool
}

// plainEvery is how often a line is written where there is no terminal.
const plainEvery = 5 * time.Second

func newProgress(std streams, name string) *progress {
	now := time.Now()
	return &progress{std: std, name: name, began: now, last: now}
}

func (p *progress) update(g pipeline.Progress) {
	now := time.Now()
	if p.std.terminal {
		p.draw(g, now)
		return
	}
	if g.Stage == p.stage && now.Sub(p.last) < plainEvery {
		return
	}
	p.last, p.stage = now, g.Stage
	line := fmt.Sprintf("%s: %s", p.name, g.Stage)
	if counting(g) {
		line += fmt.Sprintf(", %s of %s rows", grouped(min(g.Done, g.Total)), grouped(g.Total))
	}
	fmt.Fprintln(p.std.err, line+failures(g))
}

// counting reports whether rows are being worked on.
func counting(g pipeline.Progress) bool { return g.Total > 0 && g.Done+g.Children > 0 }

// failures says how many attempts have failed, so that whoever waits for a database that is not there learns of it.
func failures(g pipeline.Progress) string {
	if g.Failed == 0 {
		return ""
	}
	return fmt.Sprintf(", %s failed (latest: %s)", counted(g.Failed, "attempt"), g.Error)
}

// draw draws the line of a terminal: the bar first, and of the rest as much as there is room for, the name of the file
// last.
func (p *progress) draw(g pipeline.Progress, now time.Time) {
	parts := []string{fmt.Sprintf("%s  %ds", g.Stage, int(now.Sub(p.began).Seconds()))}
	if counting(g) {
		done := min(g.Done, g.Total)
		full := int(int64(barCells) * done / g.Total)
		parts = []string{
			"[" + strings.Repeat("#", full) + strings.Repeat(".", barCells-full) + "]",
			fmt.Sprintf("  %s/%s rows", grouped(done), grouped(g.Total)),
			"  " + parts[0],
			fmt.Sprintf(", %d children", g.Children),
		}
	}
	var text strings.Builder
	room := p.std.width - 1
	for _, part := range append(parts, failures(g), "  "+p.name) {
		if room -= source.Cells(part); room < 0 {
			break
		}
		text.WriteString(part)
	}
	fmt.Fprintf(p.std.err, "\r\x1b[K%s", text.String())
	p.drawn = true
}

// barCells is how many cells the bar has between its brackets.
const barCells = 16

// done takes the bar away.
func (p *progress) done() {
	if p.drawn {
		fmt.Fprint(p.std.err, "\r\x1b[K")
	}
}
