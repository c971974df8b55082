package letters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"stepback/cmd/stepback/terminal"
	"stepback/outbox/deadletters"
)

type deadlettersShowCmd struct {
	letterStore
	ID   string `arg:"" help:"ID of a letter."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help shows an example.
func (deadlettersShowCmd) Help() string {
	return "Example:\n  stepback deadletters show 0199e0f0-… --db sqlite:app.db"
}

// Run prints a letter.
func (c *deadlettersShowCmd) Run(ctx context.Context, std terminal.Streams) (err error) {
	o, leave, err := c.enter(ctx, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	l, err := o.Store.Show(ctx, c.ID)
	if err != nil {
		return fmt.Errorf("%s: %w", c.ID, err)
	}
	acts, err := o.Store.Acts(ctx, c.ID, 100)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, struct {
			Letter *deadletters.Letter `json:"letter"`
			Acts   []deadletters.Act   `json:"acts"`
		}{&l, append([]deadletters.Act{}, acts...)})
	}
	for _, row := range [][2]any{
		{"id", l.ID}, {"kind", l.Kind}, {"state", l.State}, {"subject", l.Subject}, {"key", l.Key}, {"reason", l.Reason},
		{"error", l.Error},
		{"attempts", l.Attempts}, {"redrives", l.Redrives}, {"execution", l.Execution}, {"traceparent", l.Trace},
		{"written", second(l.CreatedAt)}, {"last attempt", second(l.LastAttemptAt)},
		{"next attempt", second(l.NextAttemptAt)},
		{"died", second(l.DeadAt)}, {"content type", l.ContentType},
	} {
		if fmt.Sprint(row[1]) != "" {
			fmt.Fprintf(std.Out, "%-14s%s\n", row[0], terminal.Visible(fmt.Sprint(row[1])))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Headers)) {
		fmt.Fprintf(std.Out, "%-14s%s: %s\n", "header", name, terminal.Visible(l.Headers[name]))
	}
	if l.Cause != "" {
		fmt.Fprintf(std.Out, "\nlast error\n%s\n", terminal.VisibleLines(l.Cause))
	}
	fmt.Fprintf(std.Out, "\npayload\n%s\n", terminal.VisibleLines(string(l.Payload)))
	if l.Edited != nil {
		fmt.Fprintf(std.Out, "\nedited payload, sent instead\n%s\n", terminal.VisibleLines(string(l.Edited)))
	}
	if len(acts) > 0 {
		fmt.Fprintln(std.Out)
		printActs(std.Out, acts)
	}
	return nil
}
