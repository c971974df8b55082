package letters

import (
	"context"
	"errors"
	"fmt"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/outbox/deadletters"
)

type deadlettersListCmd struct {
	letterStore
	letterFilter
	Letters bool `help:"List single letters instead of counts, oldest first."`
	Limit   int  `default:"100" placeholder:"N" help:"Number of letters to list. Default 100."`
	JSON    bool `name:"json" help:"Print JSON."`
}

// Help shows examples.
func (deadlettersListCmd) Help() string {
	return letterPlaces + `

Examples:
  stepback deadletters list
  stepback deadletters list --db sqlite:app.db --letters --reason retries_exhausted --within 2h
  stepback deadletters list --import-results s3://csv-import-prod-results --import-machine arn:aws:states:…:stateMachine:csv-import-prod
  stepback deadletters list --machine arn:aws:states:us-east-1:123456789012:stateMachine:orders --record s3://my-bucket/dead-letters/
  stepback deadletters list --queue arn:aws:sqs:us-east-1:123456789012:orders-dlq --record s3://my-bucket/dead-letters/`
}

// Run prints groups, or letters.
func (c *deadlettersListCmd) Run(ctx context.Context, std terminal.Streams) (err error) {
	o, leave, err := c.enter(ctx, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if c.Letters {
		return c.letters(ctx, o.Store, std)
	}
	groups, err := o.Store.Groups(ctx, c.filter())
	if err != nil {
		return err
	}
	if c.JSON {
		if groups == nil {
			groups = []deadletters.Group{}
		}
		return terminal.PrintJSON(std.Out, groups)
	}
	if len(groups) == 0 {
		fmt.Fprintln(std.Out, "no dead letters")
		return nil
	}
	t := terminal.NewTable(">letters", "kind", "reason", "error", "subject", "from", "until", "one of them")
	for _, g := range groups {
		t.Add(terminal.Grouped(g.Count), g.Kind, g.Reason, g.Error, g.Subject, second(g.Oldest), second(g.Newest),
			g.Sample)
	}
	t.Print(std.Out, "")
	return nil
}

func (c *deadlettersListCmd) letters(ctx context.Context, store deadletters.Store, std terminal.Streams) error {
	if c.Limit < 1 {
		return exit.With(exit.Usage, errors.New("--limit must be 1 or more"))
	}
	page, err := store.List(ctx, deadletters.Query{Filter: c.filter(), Limit: c.Limit})
	if err != nil {
		return err
	}
	if c.JSON {
		all := make([]*deadletters.Letter, len(page.Letters))
		for i := range page.Letters {
			all[i] = &page.Letters[i]
		}
		return terminal.PrintJSON(std.Out, all)
	}
	t := terminal.NewTable("id", "reason", "error", "subject", ">attempts", "died", "cause")
	for i := range page.Letters {
		l := &page.Letters[i]
		t.Add(l.ID, l.Reason, l.Error, l.Subject, l.Attempts, second(l.DeadAt), firstLine(l.Cause, 60))
	}
	t.Print(std.Out, "")
	if page.Next != "" {
		fmt.Fprintf(std.Err, "there are more; raise --limit (now %d) to see them\n", c.Limit)
	}
	return nil
}
