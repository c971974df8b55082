package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

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
	fmt.Fprintln(p.std.err, line)
}

// counting reports whether rows are being worked on.
func counting(g pipeline.Progress) bool { return g.Total > 0 && g.Done+g.Children > 0 }

func (p *progress) draw(g pipeline.Progress, now time.Time) {
	text := fmt.Sprintf("%s  %s  %ds", p.name, g.Stage, int(now.Sub(p.began).Seconds()))
	if counting(g) {
		done := min(g.Done, g.Total)
		text += fmt.Sprintf("  %s/%s rows, %d children", grouped(done), grouped(g.Total), g.Children)
		if room := p.std.width - utf8.RuneCountInString(text) - 4; room >= 10 {
			full := int(int64(min(room, 40)) * done / g.Total)
			text = "[" + strings.Repeat("#", full) + strings.Repeat(".", min(room, 40)-full) + "] " + text
		}
	}
	if letters := []rune(text); len(letters) >= p.std.width {
		text = string(letters[:p.std.width-1])
	}
	fmt.Fprintf(p.std.err, "\r\x1b[K%s", text)
	p.drawn = true
}

// done takes the bar away.
func (p *progress) done() {
	if p.drawn {
		fmt.Fprint(p.std.err, "\r\x1b[K")
	}
}
