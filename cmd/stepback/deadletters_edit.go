package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"stepback/outbox/deadletters"
)

type deadlettersEditCmd struct {
	letterRoom
	ID      string `arg:"" help:"ID of a dead letter."`
	Payload string `required:"" placeholder:"FILE" help:"File with the payload to send instead; - reads it from the input."`
	Because string `placeholder:"TEXT" help:"Why, for the record."`
}

// Help shows an example.
func (deadlettersEditCmd) Help() string {
	return `The original stays beside the edit. Redrive the letter to have it sent.

Example:
  echo '{"order":1}' | stepback deadletters edit 0199e0f0-… --payload - --because "misspelled by release 7" --db sqlite:app.db`
}

// Run edits the letter.
func (c *deadlettersEditCmd) Run(ctx context.Context, std streams) (err error) {
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
	fmt.Fprintf(std.out, "%s has another payload; redrive it to have it sent\n", c.ID)
	return nil
}

// readPayload reads at most the maximum size of a payload.
func readPayload(path string, std streams) ([]byte, error) {
	in := std.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	if in == nil {
		return nil, errors.New("there is no input to read the payload from")
	}
	return io.ReadAll(io.LimitReader(in, deadletters.MaxPayload+1))
}
