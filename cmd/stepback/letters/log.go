package letters

import (
	"context"
	"errors"
	"io"

	"stepback/cmd/stepback/terminal"
	"stepback/outbox/deadletters"
)

type deadlettersLogCmd struct {
	letterStore
	ID    string `arg:"" optional:"" help:"Only entries about this letter."`
	Limit int    `default:"100" placeholder:"N" help:"Number of entries, the newest. Default 100."`
	JSON  bool   `name:"json" help:"Print JSON, with the states before and after."`
}

// Help shows an example.
func (deadlettersLogCmd) Help() string {
	return "Example:\n  stepback deadletters log --db sqlite:app.db"
}

// Run prints the recorded actions.
func (c *deadlettersLogCmd) Run(ctx context.Context, std terminal.Streams) (err error) {
	o, leave, err := c.enter(ctx, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	acts, err := o.Store.Acts(ctx, c.ID, max(c.Limit, 1))
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, append([]deadletters.Act{}, acts...))
	}
	printActs(std.Out, acts)
	return nil
}

func printActs(w io.Writer, acts []deadletters.Act) {
	t := terminal.NewTable("when", "who", "act", "letter", "why")
	for _, a := range acts {
		t.Add(second(a.At), a.Who, a.Verb.Past(), a.ID, a.Reason)
	}
	t.Print(w, "")
}
