package letters

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/outbox/deadletters"
)

// resultPrinter prints the result of each letter as it arrives, and counts the outcomes.
type resultPrinter struct {
	act    deadletters.Verb
	std    terminal.Streams
	json   bool
	counts map[deadletters.Outcome]int
	bad    bool
}

func (p *resultPrinter) print(r deadletters.Result) error {
	if p.counts == nil {
		p.counts = map[deadletters.Outcome]int{}
	}
	p.counts[r.Outcome]++
	p.bad = p.bad || r.Outcome != deadletters.Done && r.Outcome != deadletters.WouldDo
	if p.json {
		return json.NewEncoder(p.std.Out).Encode(r)
	}
	line := fmt.Sprintf("%s  %s", r.ID, r.Outcome.Text(p.act))
	if r.Err != nil {
		line += "  " + terminal.Visible(r.Err.Error())
	}
	_, err := fmt.Fprintln(p.std.Out, line)
	return err
}

func (p *resultPrinter) end() error {
	for _, o := range []deadletters.Outcome{
		deadletters.Done, deadletters.WouldDo, deadletters.NotDead, deadletters.NotFound, deadletters.Failed,
	} {
		if n := p.counts[o]; n > 0 {
			fmt.Fprintf(p.std.Err, "%d %s\n", n, o.Text(p.act))
		}
	}
	if len(p.counts) == 0 {
		fmt.Fprintln(p.std.Err, "no letters match")
	}
	if p.bad {
		return exit.With(exit.Data, nil)
	}
	return nil
}

// usage adds the exit code for wrong usage to the error of an action that was rejected before it changed anything.
func usage(err error) error {
	if bad, ok := errors.AsType[*deadletters.BadActError](err); ok {
		return exit.With(exit.Usage, bad)
	}
	return err
}

// second formats a time for display; "" for the zero time.
func second(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// firstLine shortens a text for a table.
func firstLine(text string, most int) string {
	line, rest, _ := strings.Cut(text, "\n")
	short := []rune(line)
	if len(short) > most {
		return string(short[:most]) + "…"
	}
	if rest != "" {
		return line + " …"
	}
	return line
}
