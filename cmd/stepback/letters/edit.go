package letters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"stepback/cmd/stepback/terminal"
	"stepback/outbox/deadletters"
)

type deadlettersEditCmd struct {
	letterRoom
	ID      string `arg:"" help:"ID of a dead letter."`
	Payload string `required:"" placeholder:"FILE" help:"File with the payload to send instead; - for standard input."`
	Because string `placeholder:"TEXT" help:"Reason, for the log."`
}

// Help shows an example.
func (deadlettersEditCmd) Help() string {
	return `The original payload is kept. Redrive the letter to send the edited one.

Example:
  echo '{"order":1}' | stepback deadletters edit 0199e0f0-… --payload - --because "misspelled by release 7" --db sqlite:app.db`
}

// Run edits the letter.
func (c *deadlettersEditCmd) Run(ctx context.Context, std terminal.Streams) (err error) {
	payload, err := readPayload(c.Payload, std)
	if err != nil {
		return err
	}
	o, leave, err := c.enter(ctx, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if err := o.Edit(ctx, c.ID, payload, c.Because); errors.Is(err, deadletters.ErrNotFound) {
		return fmt.Errorf("%s: %w", c.ID, err)
	} else if err != nil {
		return usage(err)
	}
	fmt.Fprintf(std.Out, "edited the payload of %s; redrive the letter to send it\n", c.ID)
	return nil
}

// readPayload reads at most the maximum size of a payload.
func readPayload(path string, std terminal.Streams) ([]byte, error) {
	in := std.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	if in == nil {
		return nil, errors.New("standard input is not available, so the payload cannot be read from it")
	}
	return io.ReadAll(io.LimitReader(in, deadletters.MaxPayload+1))
}
