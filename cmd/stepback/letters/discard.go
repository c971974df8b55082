package letters

import (
	"context"
	"errors"

	"stepback/cmd/stepback/terminal"
	"stepback/outbox/deadletters"
)

type deadlettersDiscardCmd struct {
	letterStore
	letterSelection
	Because string `required:"" placeholder:"TEXT" help:"Reason, for the log."`
	DryRun  bool   `help:"Only print which letters would be discarded."`
	JSON    bool   `name:"json" help:"Print one line of JSON per letter."`
}

// Help shows an example.
func (deadlettersDiscardCmd) Help() string {
	return "Example:\n  stepback deadletters discard 0199e0f0-… --because \"a test message\" --db sqlite:app.db"
}

// Run discards the letters.
func (c *deadlettersDiscardCmd) Run(ctx context.Context, std terminal.Streams) (err error) {
	chosen, err := c.selection()
	if err != nil {
		return err
	}
	o, leave, err := c.enter(ctx, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	p := resultPrinter{act: deadletters.VerbDiscard, std: std, json: c.JSON}
	if err := o.Discard(ctx, chosen, c.DryRun, c.Because, p.print); err != nil {
		return usage(err)
	}
	return p.end()
}
