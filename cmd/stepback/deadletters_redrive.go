package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/outbox/deadletters"
)

type deadlettersRedriveCmd struct {
	letterRoom
	letterSelection
	Rate    float64 `placeholder:"N" help:"Letters a second; 0 means as fast as it goes."`
	DryRun  bool    `help:"Only say which letters would be redriven."`
	Wait    bool    `help:"Wait until each is delivered or dead again; for letters of an outbox a relay has to run. Always so for --data where no process serves the directory."`
	Because string  `placeholder:"TEXT" help:"Why, for the record."`
	JSON    bool    `name:"json" help:"Print one line of JSON per letter."`
}

// Help shows examples.
func (deadlettersRedriveCmd) Help() string {
	return `Letters go out under the IDs they had, so that a receiver knows repeats. Two people who redrive the same letters send them once.

Examples:
  stepback deadletters redrive 0199e0f0-… --db sqlite:app.db
  stepback deadletters redrive --error ServiceUnavailableError --rate 20 --wait --db sqlite:app.db
  stepback deadletters redrive --all --dry-run --db sqlite:app.db
  stepback deadletters redrive --kind row --execution users-csv-e8594c61f26231883c3a11e67702671b --data .stepback

Exit status: 3 if any letter was not redriven or, with --wait, died again.`
}

// Run redrives the letters.
func (c *deadlettersRedriveCmd) Run(ctx context.Context, std streams) (err error) {
	chosen, err := c.selection()
	if err != nil {
		return err
	}
	o, leave, err := c.enter(ctx, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	p := resultPrinter{std: std, json: c.JSON}
	var redriven []string
	pace := deadletters.Pace{Rate: c.Rate, DryRun: c.DryRun}
	if err := o.Redrive(ctx, chosen, pace, c.Because, func(r deadletters.Result) error {
		if r.Outcome == deadletters.Done {
			redriven = append(redriven, r.ID)
		}
		return p.print(r)
	}); err != nil {
		return usage(err)
	}
	// alone: whatever this process does not finish is finished when the directory is opened again
	if c.Wait || c.alone {
		if err := o.Follow(ctx, redriven, 200*time.Millisecond, func(l deadletters.Letter) error {
			p.bad = p.bad || l.State != deadletters.Delivered
			cause := ""
			if l.State != deadletters.Delivered {
				cause = "  " + firstLine(l.Cause, 100)
			}
			_, err := fmt.Fprintf(std.out, "%s  %s%s\n", l.ID, l.State, cause)
			return err
		}); err != nil {
			return err
		}
	}
	return p.end()
}
