package imports

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/csvimport/faultscenario"
)

// Scenario implements the verb scenario.
type Scenario struct {
	Name string `arg:"" optional:"" help:"A scenario, or all. Without one, the scenarios are listed."`
	Seed uint64 `default:"1" help:"Decides which calls fail. Default 1."`
	JSON bool   `name:"json" help:"Print the reports as JSON."`
}

// Help shows examples.
func (Scenario) Help() string {
	return `Runs the import's real state machine, functions, guards and controller in virtual time while a fault is injected. Prints
what happened and when, and checks the expected retry patterns, bounds and transitions, and that no row is lost or counted
twice. All files are temporary.

Examples:
  stepback scenario
  stepback scenario breaker
  stepback scenario all --json

Exit status: 1 if a check fails, 2 if there is no such scenario.`
}

// Run runs scenarios, or lists them.
func (c *Scenario) Run(ctx context.Context, std terminal.Streams) error {
	names := faultscenario.Names()
	switch {
	case c.Name == "":
		t := terminal.NewTable("scenario", "what breaks")
		for _, name := range names {
			t.Add(name, faultscenario.All[name].About)
		}
		t.Print(std.Out, "")
		return nil
	case c.Name == "all":
	case slices.Contains(names, c.Name):
		names = []string{c.Name}
	default:
		return exit.With(exit.Usage, fmt.Errorf("there is no scenario %q; use all, or one of %s", c.Name,
			strings.Join(names, ", ")))
	}
	reports := make([]*faultscenario.Report, 0, len(names))
	failed := false
	for i, name := range names {
		r, err := faultscenario.All[name].Run(ctx, faultscenario.Options{Seed: c.Seed})
		if err != nil {
			return err
		}
		reports = append(reports, r)
		failed = failed || !r.Passed
		if !c.JSON {
			if i > 0 {
				fmt.Fprintln(std.Out)
			}
			r.Print(std.Out)
		}
	}
	if c.JSON {
		if err := terminal.PrintJSON(std.Out, reports); err != nil {
			return err
		}
	}
	if failed {
		return exit.With(exit.Failure, nil)
	}
	return nil
}
