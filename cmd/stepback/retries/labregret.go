package retries

import (
	"context"
	"fmt"

	"stepback/adaptive/lab/regret"
	"stepback/adaptive/lab/scenarios"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

type labRegretCmd struct {
	Policy    string `default:"adaptive" placeholder:"NAME" help:"Policy whose regret is measured: a name from lab list, or a YAML file. Default adaptive."`
	Scenarios int    `default:"200" placeholder:"N" help:"Number of scenarios to draw, at most 2,000. Default 200."`
	First     uint64 `default:"1000" placeholder:"NUMBER" help:"Number of the first scenario. Default 1000; tune policies on 1 to 999 only."`
	Print     uint64 `placeholder:"NUMBER" help:"Print the scenario with this number instead, for lab run."`
	JSON      bool   `name:"json" help:"Print the report as JSON."`
	Seeds     int    `default:"5" placeholder:"N" help:"Number of seeds for each scenario, at least 2. Default 5."`
	FirstSeed uint64 `default:"10000" placeholder:"SEED" help:"The first seed. Default 10000; tune policies on seeds 1 to 99 only."`
}

// Help shows examples.
func (labRegretCmd) Help() string {
	return `Examples:
  stepback lab regret
  stepback lab regret --policy mine-policy.yaml --scenarios 50 --first 1 --first-seed 1
  stepback lab regret --print 1017 > drawn.yaml

Draws scenarios at random (outages, partial outages, brown-outs, pauses, chance errors, poison records, bursts and others, at
10 to 85 % of capacity) and compares the policy with the best of none, static and aimd. Exit status: 1 if another policy saves
more in a scenario, or if latency or cost exceed 1.25 times those of the cheapest that saves as much in more than 5 % of the
scenarios.`
}

// Run measures the regret and prints it.
func (c *labRegretCmd) Run(ctx context.Context, std terminal.Streams) error {
	if c.Print > 0 {
		text, _ := regret.Draw(c.Print)
		_, err := std.Out.Write(text)
		return err
	}
	p, err := scenarios.OpenPolicy(c.Policy)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	o := regret.Options{Policy: p, Scenarios: c.Scenarios, First: c.First, Seeds: c.Seeds, FirstSeed: c.FirstSeed}
	if err := o.Validate(); err != nil {
		return exit.With(exit.Usage, err)
	}
	if std.Terminal {
		shown := -1
		o.Progress = func(done, total int) {
			if percent := 100 * done / total; percent != shown {
				shown = percent
				fmt.Fprintf(std.Err, "\rsimulating %3d %%, %d of %d runs\x1b[K", percent, done, total)
			}
		}
		defer fmt.Fprint(std.Err, "\r\x1b[K")
	}
	report, err := regret.Run(ctx, o)
	if err != nil {
		return err
	}
	if c.JSON {
		err = terminal.PrintJSON(std.Out, report)
	} else {
		report.WriteTable(std.Out)
	}
	if err == nil && !report.Met() {
		return exit.With(exit.Failure, nil)
	}
	return err
}
