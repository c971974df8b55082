package retries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/design"
	"stepback/adaptive/worth"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/local"
)

// Analyze implements the verb retries analyze.
type Analyze struct {
	Region       string        `default:"us-east-1" help:"Region whose prices are used. Default us-east-1."`
	Memory       int           `default:"1024" placeholder:"MB" help:"Memory of the called functions, in MB; 0 if there are none. Default 1024."`
	Value        float64       `default:"0.001" placeholder:"USD" help:"Value of a task that succeeds in the end. Default 0.001."`
	DelayPerHour float64       `placeholder:"USD" help:"Cost of delaying one task by an hour. Default 0."`
	LoadPrice    float64       `placeholder:"USD" help:"Cost of one call to an overloaded callee. Default 0."`
	Spell        time.Duration `default:"5m" help:"Length of a spell: retries against one callee within this time are not independent. Default 5m."`
	JSON         bool          `name:"json" help:"Print the analysis as JSON."`
	Design       string        `type:"path" placeholder:"FILE" help:"Compare what happened with the predictions of this design file (retries design -o), and propose the next design if they no longer hold."`
	Definition   string        `type:"path" placeholder:"FILE" help:"With --design: print the next design as a diff of this definition."`
	Next         string        `type:"path" placeholder:"FILE" help:"With --design: write the next design to this file."`

	architecture
	retriesRecord
	design   *design.Design
	observer *design.Observer
}

// Help shows examples.
func (Analyze) Help() string {
	return `Reads the histories of the last days and reports, for each state and error: how often each retry recovered, which retry
no longer pays, what waiting and retrying cost, and what to change. Retries against one callee within five minutes are not
independent, so confidence intervals are computed over such spells. With fewer than 20 effective retries nothing is reported.

Examples:
  stepback retries analyze --data .stepback
  stepback retries analyze --endpoint http://localhost:8083 --days 30 --json
  stepback retries analyze --aws --state-machine csv-import --value 0.01 --delay-per-hour 0.05
  stepback retries analyze --design orders.design.json --definition orders.asl.json --next next.design.json

With --design, exit status 1 means that the design's predictions no longer hold.`
}

// Run analyses the histories in a data directory or behind an API.
func (c *Analyze) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := c.options().Validate(); err != nil {
		return exit.With(exit.Usage, err)
	}
	if c.Design == "" && (c.Definition != "" || c.Next != "") {
		return exit.With(exit.Usage, errors.New("--definition and --next need --design"))
	}
	if err := c.open(); err != nil {
		return err
	}
	if c.remote() {
		found, err := c.fromAPI(ctx)
		return c.report(ctx, std, found, err)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// open reads the design whose predictions are compared, if there is one.
func (c *Analyze) open() error {
	if c.Design == "" {
		return nil
	}
	d, err := readDesign(c.Design, false)
	if err != nil {
		return err
	}
	if d.Result == nil {
		return exit.With(exit.Usage, fmt.Errorf("%s has no predictions; compute them with stepback retries design %s -o FILE", c.Design,
			c.Design))
	}
	c.design, c.observer = d, d.Observe()
	c.each = c.observer.Add
	return nil
}

// On implements workspace.DirectoryVerb.
func (c *Analyze) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	if err := c.open(); err != nil { // again in the process that serves the directory
		return err
	}
	found, err := c.fromJournal(ctx, p.Journal)
	return c.report(ctx, std, found, err)
}

// Alone implements workspace.DirectoryVerb.
func (c *Analyze) Alone(ctx context.Context, std terminal.Streams) error {
	found, err := c.fromDirectory(ctx)
	return c.report(ctx, std, found, err)
}

func (c *Analyze) options() analysis.Options {
	return analysis.Options{Region: c.Region, MemoryMB: c.Memory, Architecture: c.of(worth.X86), Value: c.Value,
		DelayPerHour: c.DelayPerHour, LoadPrice: c.LoadPrice, Spell: c.Spell}
}

func (c *Analyze) report(ctx context.Context, std terminal.Streams, found *analysis.Collector, err error) error {
	if err != nil {
		return err
	}
	if c.design != nil {
		return c.compare(ctx, std, found)
	}
	r, err := found.Analyze(c.options())
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, r)
	}
	printAnalysis(std.Out, r)
	return nil
}

// compare compares the histories with the design, and proposes the next one if its predictions no longer hold.
func (c *Analyze) compare(ctx context.Context, std terminal.Streams, found *analysis.Collector) error {
	fit, unfit := found.Fit(c.design.State)
	x, err := c.observer.Compare(found, fit)
	if err != nil {
		return errors.Join(err, unfit)
	}
	if c.JSON {
		err = terminal.PrintJSON(std.Out, x)
	} else {
		x.WriteText(std.Out)
	}
	if err != nil || x.Holds {
		return err
	}
	if unfit != nil {
		return fmt.Errorf("the next design cannot be proposed: %w", unfit)
	}
	next := &design.Design{Problem: c.design.Fitted(fit, true)}
	if err := next.Run(ctx, design.Options{}); err != nil {
		return fmt.Errorf("the next design cannot be proposed: %w", err)
	}
	if c.Next != "" {
		var b bytes.Buffer
		if err := next.Write(&b); err != nil {
			return err
		}
		if err := os.WriteFile(c.Next, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if !c.JSON {
		fmt.Fprint(std.Out, "\nthe next design, for the callee as the histories show it:\n")
		next.WriteText(std.Out)
	}
	if next.Result.Feasible {
		if err := changeDefinition(std, next, c.Definition, false, c.JSON); err != nil {
			return err
		}
	}
	return exit.With(exit.Failure, nil)
}

func printAnalysis(w io.Writer, r *analysis.Report) {
	printRecord(w, r.Read, r.From, r.To)
	if len(r.Classes) == 0 {
		fmt.Fprintln(w, "no task failed, so there are no retries to analyze")
		return
	}
	for i := range r.Classes {
		printClass(w, &r.Classes[i])
		x := &r.Recommendations[i]
		fmt.Fprintf(w, "  %s: %s\n", actionText(x), x.Evidence)
	}
	fmt.Fprintln(w, "\ncallees")
	t := terminal.NewTable("callee", ">calls", ">retries", ">failed calls lasted", ">overloaded", ">feedback")
	for _, l := range r.Callees {
		t.Add(l.Callee, l.Calls, l.Retries, inSeconds(l.FailedSeconds), share(l.Overloaded),
			fmt.Sprintf("%.2f", l.Feedback))
	}
	t.Print(w, "  ")
	p := r.Prices
	fmt.Fprintf(w, "\nprices of %s, %s; a success is worth $%g, an hour of delay costs $%g, functions have %d MB (%s)\n",
		p.Region, p.Date, p.Value, p.DelayPerHour, p.MemoryMB, p.Architecture)
}

func printClass(w io.Writer, c *analysis.Class) {
	fmt.Fprintf(w, "\n%s, %s: the first error of %s; %d recovered, %d given up, %d censored",
		c.State, c.Error, terminal.Counted(int64(c.Tasks), "task"), c.Recovered, c.GivenUp, c.Censored)
	if c.Changed > 0 {
		fmt.Fprintf(w, ", %d met another error", c.Changed)
	}
	fmt.Fprintln(w)
	if len(c.Retries) > 0 {
		t := terminal.NewTable(">retry", ">started", ">recovered", ">share", ">95 %", ">effective", ">all so far", ">mean wait",
			">cost", "")
		for i := range c.Retries {
			x := &c.Retries[i]
			t.Add(x.Number, x.Started, x.Recovered, share(x.Rate), fmt.Sprintf("%s–%s", share(x.Low), share(x.High)),
				fmt.Sprintf("%.1f", x.Effective), share(x.All.Rate), inSeconds(x.WaitSeconds), fmt.Sprintf("$%.3g", x.USD),
				verdictText(x.Verdict))
		}
		t.Print(w, "  ")
	}
	fmt.Fprintf(w, "  waited %s, paid $%.4g", inSeconds(c.WaitedSeconds), c.USD)
	if c.Recovered > 0 {
		fmt.Fprintf(w, "; half of the recoveries took at most %s, nine tenths at most %s",
			inSeconds(c.MedianSeconds), inSeconds(c.NinetySeconds))
	}
	fmt.Fprintln(w)
}

func verdictText(v analysis.Verdict) string {
	switch v {
	case analysis.Pays:
		return "pays"
	case analysis.Loses:
		return "does not pay"
	case analysis.Undecided:
		return "undecided"
	default:
		return "too little data"
	}
}

func actionText(r *analysis.Recommendation) string {
	switch r.Action {
	case analysis.CutRetries:
		return "cut to " + terminal.Counted(*r.To, "retry")
	case analysis.RaiseRetries:
		return "raise to " + terminal.Counted(*r.To, "retry")
	case analysis.KeepRetries:
		return "keep"
	case analysis.WaitLonger:
		return "wait longer"
	default:
		return "nothing to recommend"
	}
}

func share(p float64) string { return fmt.Sprintf("%.1f %%", 100*p) }

func inSeconds(s float64) string {
	return terminal.Duration(time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond))
}
