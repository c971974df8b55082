package letters

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"stepback/adaptive/pacing"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/outbox/deadletters"
)

type deadlettersRedriveCmd struct {
	letterStore
	letterSelection
	Rate    string `placeholder:"N|auto" help:"Letters per second; 0 means no limit. auto learns how many their receivers can handle, waits for each, and redrives those that die again up to twice."`
	DryRun  bool   `help:"Only print which letters would be redriven."`
	Wait    bool   `help:"Wait until each letter is delivered or dead-lettered again. Letters of an outbox need a running relay. For --data without a serving process, redrive always waits."`
	Because string `placeholder:"TEXT" help:"Reason, for the log."`
	JSON    bool   `name:"json" help:"Print one line of JSON per letter."`
}

// Help shows examples.
func (deadlettersRedriveCmd) Help() string {
	return `Letters keep their IDs, so that a receiver can recognize duplicates. If two people redrive the same letter, it is sent once.

Examples:
  stepback deadletters redrive 0199e0f0-… --db sqlite:app.db
  stepback deadletters redrive --error ServiceUnavailableError --rate 20 --wait --db sqlite:app.db
  stepback deadletters redrive --error ServiceUnavailableError --rate auto --db sqlite:app.db
  stepback deadletters redrive --all --dry-run --db sqlite:app.db
  stepback deadletters redrive --kind row --execution users-csv-72edfb265f5099a5811da291b4d492b4 --data .stepback

Exit status: 3 if any letter was not redriven or, with --wait, was dead-lettered again.`
}

// Run redrives the letters.
func (c *deadlettersRedriveCmd) Run(ctx context.Context, std terminal.Streams) (err error) {
	pace := deadletters.Pace{DryRun: c.DryRun, Auto: c.Rate == "auto"}
	if c.Rate != "" && !pace.Auto {
		if pace.Rate, err = strconv.ParseFloat(c.Rate, 64); err != nil {
			return exit.With(exit.Usage, fmt.Errorf("--rate %s: give letters per second, such as 20, or auto", c.Rate))
		}
	}
	chosen, err := c.selection()
	if err != nil {
		return err
	}
	o, leave, err := c.enter(ctx, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	p := resultPrinter{act: deadletters.VerbRedrive, std: std, json: c.JSON}
	var redriven []string
	pace.Progress = func(p pacing.Progress) {
		fmt.Fprintf(std.Err, "%d of %d delivered, %d under way, at most %d at a time, %.1f a second\n", p.Succeeded, p.Total, p.UnderWay,
			int(p.Limit), p.Rate)
	}
	if err := o.Redrive(ctx, chosen, pace, c.Because, func(r deadletters.Result) error {
		if r.Outcome == deadletters.Done {
			redriven = append(redriven, r.ID)
		}
		return p.print(r)
	}); err != nil {
		return usage(err)
	}
	// If this process runs alone, the next process that opens the directory finishes what this one does not.
	if (c.Wait || c.alone) && !pace.Auto {
		if err := o.Follow(ctx, redriven, 200*time.Millisecond, func(l deadletters.Letter) error {
			p.bad = p.bad || l.State != deadletters.Delivered
			cause := ""
			if l.State != deadletters.Delivered {
				cause = "  " + firstLine(l.Cause, 100)
			}
			_, err := fmt.Fprintf(std.Out, "%s  %s%s\n", l.ID, l.State, cause)
			return err
		}); err != nil {
			return err
		}
	}
	return p.end()
}
