package retries

import (
	"context"
	"fmt"
	"io"
	"strings"

	"stepback/cmd/stepback/checks"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/retrypatterns"
	"stepback/retrypatterns/tablefile"
	"stepback/statemachine"
)

// Retries implements the verb retries.
type Retries struct {
	Show    retriesShowCmd    `cmd:"" help:"Print the retry table: patterns, errors, and each state's rows."`
	Explain retriesExplainCmd `cmd:"" help:"Explain one state's retries: delays, worst-case waits, and the longest duration of the state."`
	Presets retriesPresetsCmd `cmd:"" help:"List ready-made policies for callers in Go, with their worst-case waits."`
	Review  checks.Review     `cmd:"" help:"Review the Retry blocks of state machine definitions, and the code of durable functions."`
	Analyze Analyze           `cmd:"" help:"Analyze histories: what retries gained and cost, and what to change."`
	Whatif  Whatif            `cmd:"" help:"Replay histories under other Retry blocks."`
	Design  Design            `cmd:"" help:"Design Retry blocks, timeouts and limits from an objective, with predictions."`
}

type retriesShowCmd struct {
	JSON bool `name:"json" help:"Print each state's compiled Retry array as JSON."`

	ownTable
}

// ownTable holds the flag for a custom retry table.
type ownTable struct {
	Table string `type:"path" placeholder:"FILE" help:"Your own retry table, in YAML, instead of the import's."`
}

// table reads the table, or returns the default one without the flag.
func (o *ownTable) table() (retrypatterns.Table, error) {
	if o.Table == "" {
		return statemachine.DefaultTable(), nil
	}
	text, err := terminal.ReadFile(o.Table)
	if err != nil {
		return retrypatterns.Table{}, exit.With(exit.Usage, err)
	}
	t, err := tablefile.Read(o.Table, text)
	if err != nil {
		return t, exit.With(exit.Data, err)
	}
	return t, nil
}

// Help shows an example.
func (retriesShowCmd) Help() string {
	return `Examples:
  stepback retries show
  stepback retries show --table retries.yaml --json`
}

// Run prints the table.
func (c *retriesShowCmd) Run(_ context.Context, std terminal.Streams) error {
	table, err := c.table()
	if err != nil {
		return err
	}
	if c.JSON {
		return showJSON(std.Out, table)
	}
	showPatterns(std.Out)
	for _, s := range table.States {
		fmt.Fprintf(std.Out, "\n%s  (timeout %s, heartbeat %s)\n", s.State, terminal.Duration(s.Timeout), terminal.Duration(s.Heartbeat))
		t := terminal.NewTable("errors", ">retries", ">interval", ">rate", ">cap", "jitter", "from")
		for _, r := range s.Rows {
			p := r.Policy
			if p.MaxAttempts == 0 {
				t.Add(folded(r.Errors), 0, "", "", "", "", r.Provenance)
				continue
			}
			t.Add(folded(r.Errors), p.MaxAttempts, terminal.Duration(p.Interval), p.Rate, terminal.Duration(p.MaxDelay),
				p.Jitter, r.Provenance)
		}
		t.Print(std.Out, "  ")
	}
	return nil
}

func showJSON(w io.Writer, table retrypatterns.Table) error {
	out := map[string][]retrypatterns.Retrier{}
	for _, s := range table.States {
		c, err := s.Compile()
		if err != nil {
			return err
		}
		out[s.State] = c.Retry
	}
	return terminal.PrintJSON(w, out)
}

func showPatterns(w io.Writer) {
	t := terminal.NewTable("pattern", ">retries", ">interval", ">rate", ">cap", "jitter", "errors")
	for _, p := range retrypatterns.Patterns() {
		var names []string
		for _, e := range retrypatterns.ErrorPatterns() {
			if e.Pattern == p.Name {
				names = append(names, e.Error)
			}
		}
		t.Add(p.Name, p.Policy.MaxAttempts, terminal.Duration(p.Policy.Interval), p.Policy.Rate,
			terminal.Duration(p.Policy.MaxDelay),
			p.Policy.Jitter, strings.Join(names, ", "))
	}
	t.Print(w, "")
}

// folded joins the names of errors, and shortens a long list of them.
func folded(names []string) string {
	const shown = 3
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

type retriesExplainCmd struct {
	Of    string `arg:"" name:"state|file" help:"State of the retry table, such as ProcessSingleUserRecord (retries show lists them), or a definition file of your own."`
	State string `placeholder:"NAME" help:"State of the definition file. Default: all states with a Retry."`
	JSON  bool   `name:"json" help:"Print the explanation as JSON; for a file, one per state."`
	definitions.Substitutions
	ownTable
}

// Help shows an example.
func (retriesExplainCmd) Help() string {
	return `Examples:
  stepback retries explain ProcessSingleUserRecord
  stepback retries explain orders.asl.json --state Charge
  stepback retries explain Charge --table retries.yaml
  stepback retries explain template.yaml#Orders --json`
}

// Run prints the explanation.
func (c *retriesExplainCmd) Run(_ context.Context, std terminal.Streams) error {
	if file, _ := definitions.PartOf(c.Of); terminal.Exists(file) || definitions.IsDefinition(file) || file == "-" {
		return c.file(std)
	}
	table, err := c.table()
	if err != nil {
		return err
	}
	if _, ok := table.State(c.Of); !ok {
		names := make([]string, 0, len(table.States))
		for _, s := range table.States {
			names = append(names, s.State)
		}
		return exit.With(exit.Usage, fmt.Errorf("no state %q has retries; one of %s has", c.Of,
			strings.Join(names, ", ")))
	}
	e, err := table.Explain(c.Of)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, e)
	}
	explain(std.Out, e)
	return nil
}

func explain(w io.Writer, e retrypatterns.Explanation) {
	if e.Timeout > 0 {
		fmt.Fprintf(w, "%s: each attempt may take %s\n", e.State, terminal.Duration(e.Timeout))
	} else {
		fmt.Fprintf(w, "%s: an attempt has no time limit, because the state has no TimeoutSeconds known in advance\n", e.State)
	}
	for _, r := range e.Retriers {
		from := ""
		if r.Provenance != "" {
			from = fmt.Sprintf("  (%s)", r.Provenance)
		}
		fmt.Fprintf(w, "\n%s%s\n", strings.Join(r.Retrier.ErrorEquals, ", "), from)
		if r.Schedule.Retries == 0 {
			fmt.Fprintln(w, "  never retried")
			continue
		}
		t := terminal.NewTable(">retry", ">shortest", ">mean", ">longest")
		for i, d := range r.Schedule.Waits {
			t.Add(i+1, terminal.Duration(d.Min), terminal.Duration(d.Mean), terminal.Duration(d.Max))
		}
		total := r.Schedule.Total
		t.Add("all", terminal.Duration(total.Min), terminal.Duration(total.Mean), terminal.Duration(total.Max))
		t.Print(w, "  ")
		if e.Timeout == 0 {
			fmt.Fprintf(w, "  waits of up to %s in all\n", terminal.Duration(total.Max))
			continue
		}
		fmt.Fprintf(w, "  waits of up to %s in all; if every attempt reaches its timeout of %s, the state takes %s\n",
			terminal.Duration(total.Max), terminal.Duration(e.Timeout), terminal.Duration(r.Longest))
	}
	if e.Timeout == 0 {
		fmt.Fprintf(w, "\nif the errors alternate: %s, up to %s of waiting\n", terminal.Counted(e.Retries, "retry"),
			terminal.Duration(e.Wait.Max))
		return
	}
	fmt.Fprintf(w, "\nif the errors alternate: %s, up to %s of waiting, and at most %s in the state\n",
		terminal.Counted(e.Retries, "retry"), terminal.Duration(e.Wait.Max), terminal.Duration(e.Longest))
	fmt.Fprintln(w, "the timeout restarts with each attempt and does not include waits")
	for _, n := range e.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
}
