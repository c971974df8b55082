package retries

import (
	"context"
	"fmt"

	"stepback/adaptive/lab"
	"stepback/adaptive/lab/chart"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

type labChartCmd struct {
	Scenario string   `arg:"" default:"outage-30s" help:"Scenario: a name from lab list, or a YAML file. Default outage-30s."`
	Policy   []string `default:"static,none,adaptive" placeholder:"NAME" help:"Policies whose goodput is drawn. Default static,none,adaptive."`
	Panel    string   `default:"both" enum:"both,goodput,map" help:"What to draw: ${enum}. Default both; map needs a scenario with a single open stream."`
	Output   string   `short:"o" type:"path" default:"retries.svg" placeholder:"FILE" help:"File to write: .svg or .png. Default retries.svg."`
	labSeeds
}

// Help shows examples.
func (labChartCmd) Help() string {
	return `Examples:
  stepback lab chart -o retries.svg
  stepback lab chart map-outage --panel goodput --policy static,adaptive -o map.png

The left panel shows goodput over time, with the 95 % interval of its mean over the seeds. The right panel shows, for
utilisations of 10 to 90 % and 0 to 6 retries, whether the service recovers from a one-minute outage.`
}

// sweepSeeds is the number of seeds that are run for each cell of the map.
const sweepSeeds = 4

// Run draws the chart.
func (c *labChartCmd) Run(ctx context.Context, std terminal.Streams) error {
	if _, err := chart.Format(c.Output); err != nil {
		return exit.With(exit.Usage, err)
	}
	e, err := lab.Prepare(lab.Plan{
		Scenarios: []string{c.Scenario}, Policies: c.Policy, Seeds: c.Seeds, FirstSeed: c.FirstSeed,
	})
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	s := e.Scenarios[0]
	names := make([]string, len(e.Policies))
	for i, p := range e.Policies {
		names[i] = p.Name
	}
	var sweep *lab.Sweep
	if c.Panel != "goodput" {
		cells := lab.Experiment{Seeds: min(sweepSeeds, c.Seeds), FirstSeed: c.FirstSeed}
		if sweep, err = lab.SweepRetries(ctx, s, cells); err != nil {
			return err
		}
	}
	var report *lab.Report
	if c.Panel != "map" {
		if report, err = labExperiment(ctx, std, e); err != nil {
			return err
		}
	}
	var figure *chart.Figure
	switch c.Panel {
	case "goodput":
		figure = chart.Goodput(report, s, names)
	case "map":
		figure = chart.Vulnerability(sweep)
	default:
		figure = chart.Proof(report, s, names, sweep)
	}
	if err := figure.WriteFile(c.Output); err != nil {
		return err
	}
	fmt.Fprintln(std.Out, c.Output)
	return nil
}
