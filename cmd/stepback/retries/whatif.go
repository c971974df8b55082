package retries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"stepback/adaptive/analysis"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/local"
)

// Whatif implements the verb retries whatif.
type Whatif struct {
	Policy   string `required:"" type:"path" placeholder:"FILE" help:"The Retry blocks to try: a state machine definition, Retry arrays by state as printed by retries show --json, or a retry table as for retries show --table; JSON or YAML."`
	Scenario string `type:"path" placeholder:"FILE" help:"If the histories do not suffice, write the fitted scenario for stepback lab run to this file."`
	JSON     bool   `name:"json" help:"Print the answer as JSON."`

	retriesRecord
}

// Help shows examples.
func (Whatif) Help() string {
	return `Replays the histories of the last days under other Retry blocks. Each answer states its level and assumptions:

  exact      the blocks only stop earlier or exclude errors, so every outcome is on record
  bracketed  the blocks wait differently or retry more often; the bounds come from other calls at those times,
             and from retries with the same number after the same error; what no retry on record did is said
  modelled   the retries would have added to the overload; no figure, but a fitted scenario for stepback lab run

Examples:
  stepback retries whatif --policy other.asl.json
  stepback retries whatif --policy retry.yaml --endpoint http://localhost:8083 --json
  stepback retries whatif --policy retry.json --scenario fitted.yaml && stepback lab run fitted.yaml`
}

// Run replays the histories in a data directory or behind an API and prints the answer.
func (c *Whatif) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if _, err := os.Stat(c.Policy); err != nil {
		return exit.With(exit.Usage, err)
	}
	if c.remote() {
		found, err := c.fromAPI(ctx)
		return c.answer(std, found, err)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Whatif) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	found, err := c.fromJournal(ctx, p.Journal)
	return c.answer(std, found, err)
}

// Alone implements workspace.DirectoryVerb.
func (c *Whatif) Alone(ctx context.Context, std terminal.Streams) error {
	found, err := c.fromDirectory(ctx)
	return c.answer(std, found, err)
}

func (c *Whatif) answer(std terminal.Streams, found *analysis.Collector, err error) error {
	if err != nil {
		return err
	}
	text, err := terminal.ReadFile(c.Policy)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	other, err := analysis.PolicyOf(c.Policy, string(text))
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	w, err := found.WhatIf(other)
	if err != nil {
		return err
	}
	if err := c.writeScenario(w, std); err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, w)
	}
	c.print(std.Out, w)
	return nil
}

// writeScenario writes the fitted scenario of the first state that needs one to the file of --scenario, if the flag
// is set.
func (c *Whatif) writeScenario(w *analysis.WhatIf, std terminal.Streams) error {
	if c.Scenario == "" {
		return nil
	}
	for _, s := range w.States {
		if s.Scenario != "" {
			return os.WriteFile(c.Scenario, []byte(s.Scenario), 0o644)
		}
	}
	if w.Level == analysis.Modelled {
		return errors.New("no scenario was fitted")
	}
	fmt.Fprintf(std.Err, "note: %s was not written: the histories suffice\n", c.Scenario)
	return nil
}

func (c *Whatif) print(out io.Writer, w *analysis.WhatIf) {
	printRecord(out, w.Read, w.From, w.To)
	fmt.Fprintf(out, "level: %s\n", w.Level)
	for _, r := range w.Reasons {
		fmt.Fprintf(out, "  %s\n", r)
	}
	t := terminal.NewTable("state", "", ">succeeded", ">given up", ">censored", ">calls", ">waited")
	add := func(state, what string, o *analysis.Outcome) {
		if o != nil {
			t.Add(state, what, number(o.Succeeded), number(o.GivenUp), number(o.Censored), number(o.Calls),
				inSeconds(o.WaitedSeconds))
		}
	}
	modelled := ""
	for i := range w.States {
		s := &w.States[i]
		add(s.State, "recorded", &s.Recorded)
		switch s.Level {
		case analysis.Exact:
			add("", "instead", s.Low)
		case analysis.Bracketed:
			add("", "at worst", s.Low)
			add("", "at best", s.High)
		case analysis.Modelled:
			modelled = s.State
		}
	}
	t.Print(out, "  ")
	for i := range w.States {
		if s := &w.States[i]; s.Level == analysis.Bracketed {
			fmt.Fprintf(out, "  %s: %s would have run differently; %s of their attempts fall on times without a record, and %s "+
				"are later retries of an error than any on record\n", s.State, terminal.Counted(int64(s.Diverging), "task"),
				share(s.Unsupported), share(s.Beyond))
		}
	}
	for _, a := range w.Assumptions {
		fmt.Fprintf(out, "assumption %s\n", a)
	}
	if modelled != "" {
		if c.Scenario == "" {
			fmt.Fprintln(out, "write the fitted scenario with --scenario fitted.yaml, and run it:")
		}
		fmt.Fprintf(out, "  stepback lab run %s --definition %s --state %s\n", orName(c.Scenario, "fitted.yaml"), c.Policy,
			modelled)
	}
}

func orName(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

func number(f float64) string { return fmt.Sprintf("%.4g", f) }
