package retries

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/retry"
	"stepback/retrypatterns"
)

type retriesPresetsCmd struct {
	Name    string        `arg:"" optional:"" help:"Preset or pattern; lists its waits one by one."`
	Timeout time.Duration `help:"Timeout of one attempt, such as 2s. With it, the longest call includes all attempts."`
	JSON    bool          `name:"json" help:"Print the presets as JSON, durations in seconds."`
}

// Help shows examples.
func (retriesPresetsCmd) Help() string {
	return "Examples:\n  stepback retries presets\n  stepback retries presets external_api --timeout 2s"
}

// preset is a preset, or one of the table's patterns, with the longest delay that it can cause its caller.
type preset struct {
	retry.Preset
	schedule retry.Schedule
	longest  time.Duration // the longest possible call: every attempt times out, and every wait is the longest
}

// Run prints the presets and patterns, or one of them.
func (c *retriesPresetsCmd) Run(_ context.Context, std terminal.Streams) error {
	if c.Timeout < 0 {
		return exit.With(exit.Usage, fmt.Errorf("--timeout is %s; it must be 0 or more", c.Timeout))
	}
	all := c.presets()
	if c.Name != "" {
		var names []string
		chosen := all[:0:0]
		for _, p := range all {
			names = append(names, p.Name)
			if p.Name == c.Name {
				chosen = append(chosen, p)
			}
		}
		if len(chosen) == 0 {
			return exit.With(exit.Usage, fmt.Errorf("no preset %q; there are %s", c.Name, strings.Join(names, ", ")))
		}
		all = chosen
	}
	switch {
	case c.JSON:
		return terminal.PrintJSON(std.Out, presetsAsJSON(all))
	case c.Name != "":
		c.explain(std.Out, all[0])
	default:
		c.list(std.Out, all)
	}
	return nil
}

// presets returns the presets for callers in Go, then the patterns of the table.
func (c *retriesPresetsCmd) presets() []preset {
	named := retry.Presets()
	for _, p := range retrypatterns.Patterns() {
		named = append(named, retry.Preset{Name: string(p.Name), Use: p.Use, Policy: p.Policy})
	}
	all := make([]preset, 0, len(named))
	for _, p := range named {
		s := p.Policy.Schedule()
		all = append(all, preset{p, s, s.Total.Max + time.Duration(s.Retries+1)*c.Timeout})
	}
	return all
}

func (c *retriesPresetsCmd) list(w io.Writer, all []preset) {
	t := terminal.NewTable("preset", ">retries", ">interval", ">rate", ">cap", "jitter",
		">mean wait", ">longest wait", ">longest call", "for")
	for _, p := range all {
		call := terminal.Duration(p.longest)
		if c.Timeout == 0 {
			call = "–"
		}
		t.Add(p.Name, p.Policy.MaxAttempts, terminal.Duration(p.Policy.Interval), p.Policy.Rate,
			terminal.Duration(p.Policy.MaxDelay), jitterOf(p.Policy), terminal.Duration(p.schedule.Total.Mean),
			terminal.Duration(p.schedule.Total.Max), call, p.Use)
	}
	t.Print(w, "")
	if c.Timeout == 0 {
		fmt.Fprintln(w, "\nthese are waits only: add the attempts with --timeout")
	}
}

func (c *retriesPresetsCmd) explain(w io.Writer, p preset) {
	fmt.Fprintf(w, "%s, for %s: %s\n", p.Name, p.Use, p.Policy)
	t := terminal.NewTable(">retry", ">shortest", ">mean", ">longest")
	for i, d := range p.schedule.Waits {
		t.Add(i+1, terminal.Duration(d.Min), terminal.Duration(d.Mean), terminal.Duration(d.Max))
	}
	total := p.schedule.Total
	t.Add("all", terminal.Duration(total.Min), terminal.Duration(total.Mean), terminal.Duration(total.Max))
	t.Print(w, "  ")
	if c.Timeout > 0 {
		fmt.Fprintf(w, "  with %s of %s each the call takes at most %s\n",
			terminal.Counted(p.schedule.Retries+1, "attempt"), terminal.Duration(c.Timeout), terminal.Duration(p.longest))
	}
}

func jitterOf(p retry.Policy) string {
	jitter := cmp.Or(string(p.Jitter), string(retry.JitterNone))
	if p.Jitter == retry.JitterProportional {
		jitter += fmt.Sprint(" ", p.JitterFactor)
	}
	return jitter
}

// presetJSON is the JSON form of a preset; durations are in seconds.
type presetJSON struct {
	Name         string  `json:"name"`
	For          string  `json:"for"`
	Retries      int     `json:"retries"`
	Interval     float64 `json:"interval"`
	Rate         float64 `json:"rate"`
	MaxDelay     float64 `json:"maxDelay"`
	Jitter       string  `json:"jitter"`
	JitterFactor float64 `json:"jitterFactor"`
	ShortestWait float64 `json:"shortestWait"`
	MeanWait     float64 `json:"meanWait"`
	LongestWait  float64 `json:"longestWait"`
	LongestCall  float64 `json:"longestCall"` // equals LongestWait if there is no timeout
}

func presetsAsJSON(all []preset) []presetJSON {
	out := make([]presetJSON, 0, len(all))
	for _, p := range all {
		total := p.schedule.Total
		out = append(out, presetJSON{
			Name: p.Name, For: p.Use, Retries: p.Policy.MaxAttempts,
			Interval: p.Policy.Interval.Seconds(), Rate: p.Policy.Rate, MaxDelay: p.Policy.MaxDelay.Seconds(),
			Jitter: string(p.Policy.Jitter), JitterFactor: p.Policy.JitterFactor,
			ShortestWait: total.Min.Seconds(), MeanWait: total.Mean.Seconds(), LongestWait: total.Max.Seconds(),
			LongestCall: p.longest.Seconds(),
		})
	}
	return out
}
