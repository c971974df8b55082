package retries

import (
	"context"
	"fmt"

	"stepback/adaptive/lab"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// Lab implements the verb lab.
type Lab struct {
	Run    labRunCmd    `cmd:"" help:"Simulate scenarios under retry policies with many seeds, and compare the results."`
	List   labListCmd   `cmd:"" help:"List the built-in scenarios and policies, or print the file of one."`
	Regret labRegretCmd `cmd:"" help:"Draw scenarios at random, and compare a policy with the best of none, static and aimd in each."`
	Chart  labChartCmd  `cmd:"" help:"Draw goodput around an outage, and the loads at which retries prevent recovery, as SVG or PNG."`
}

// labSeeds holds the flags that select the seeds to run.
type labSeeds struct {
	Seeds     int    `default:"30" placeholder:"N" help:"Number of seeds, at most 10,000. Default 30."`
	FirstSeed uint64 `default:"10000" placeholder:"SEED" help:"The first seed. Default 10000; tune policies on seeds 1 to 99 only."`
}

type labRunCmd struct {
	Scenarios  []string `arg:"" name:"scenario" help:"Scenarios: names from lab list, or YAML files."`
	Policy     []string `placeholder:"NAME" help:"Policies: names from lab list, or YAML files. Default: none, static, adaptive and those named in the scenarios' expectations."`
	Definition string   `type:"path" placeholder:"FILE" help:"Use the Retry block of a state of this definition instead of the scenarios' own."`
	State      string   `placeholder:"NAME" help:"State of --definition whose Retry block is used."`
	Precise    bool     `help:"Run up to 200 seeds, until the 95 % interval of every success rate is at most 4 percentage points wide."`
	JSON       bool     `name:"json" help:"Print the report as JSON."`
	labSeeds
}

// Help shows examples.
func (labRunCmd) Help() string {
	return `Examples:
  stepback lab run outage-30s --policy none,static,adaptive
  stepback lab run brown-out --definition machine.asl.json --state Save --json
  stepback lab run mine.yaml --policy static,mine-policy.yaml --seeds 100

Every policy gets the same records, service times and errors. Differences to static, the scenario's own Retry block, are
therefore paired. Exit status: 1 if an expectation of a scenario is not met, 2 if a scenario or a policy is invalid.`
}

// Run runs the experiment and prints the report.
func (c *labRunCmd) Run(ctx context.Context, std terminal.Streams) error {
	e, err := lab.Prepare(lab.Plan{
		Scenarios: c.Scenarios, Policies: c.Policy, Definition: c.Definition, State: c.State,
		Seeds: c.Seeds, FirstSeed: c.FirstSeed, Precise: c.Precise,
	})
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	for _, s := range e.Scenarios {
		if note := lab.Unmatched(s); note != "" {
			fmt.Fprintln(std.Err, "note: "+note)
		}
	}
	report, err := labExperiment(ctx, std, e)
	if err != nil {
		return err
	}
	if c.JSON {
		err = report.WriteJSON(std.Out)
	} else {
		report.WriteTable(std.Out)
	}
	if err == nil && report.Failed() {
		return exit.With(exit.Failure, nil)
	}
	return err
}

// labExperiment runs an experiment, showing its progress if standard error is a terminal.
func labExperiment(ctx context.Context, std terminal.Streams, e lab.Experiment) (*lab.Report, error) {
	if std.Terminal {
		shown := -1
		e.Progress = func(done, total int) {
			if percent := 100 * done / total; percent != shown {
				shown = percent
				fmt.Fprintf(std.Err, "\rsimulating %3d %%, %d of %d runs\x1b[K", percent, done, total)
			}
		}
		defer fmt.Fprint(std.Err, "\r\x1b[K")
	}
	return lab.Run(ctx, e)
}

type labListCmd struct {
	Name string `arg:"" optional:"" help:"Print this scenario's or policy's file."`
	JSON bool   `name:"json" help:"Print the list as JSON."`
}

// Help shows an example.
func (labListCmd) Help() string {
	return "Example:\n  stepback lab list outage-30s > mine.yaml"
}

// Run prints the list of scenarios and policies, or one of their files.
func (c *labListCmd) Run(_ context.Context, std terminal.Streams) error {
	if c.Name != "" {
		text, err := lab.File(c.Name)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		_, err = std.Out.Write(text)
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, lab.List())
	}
	list := lab.List()
	for _, part := range []struct {
		title string
		items []lab.Item
	}{{"scenarios", list.Scenarios}, {"policies", list.Policies}} {
		fmt.Fprintln(std.Out, part.title)
		t := terminal.NewTable("name", "about")
		for _, i := range part.items {
			t.Add(i.Name, i.About)
		}
		t.Print(std.Out, "  ")
	}
	return nil
}
