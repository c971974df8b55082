package letters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/outbox/deadletters"
)

type deadlettersEditCmd struct {
	letterStore
	ID      string `arg:"" help:"ID of a dead letter."`
	Payload string `required:"" placeholder:"JSON|@FILE" help:"Payload to send instead: JSON, the name of a file as @FILE or FILE, or - for standard input."`
	Because string `placeholder:"TEXT" help:"Reason, for the log."`
}

// Help shows an example.
func (deadlettersEditCmd) Help() string {
	return `The original payload is kept. Redrive the letter to send the edited one.

Examples:
  stepback deadletters edit 0199e0f0-… --payload @corrected.json --because "misspelled by release 7" --db sqlite:app.db
  echo '{"order":1}' | stepback deadletters edit 0199e0f0-… --payload - --db sqlite:app.db`
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

// readPayload returns the payload that a flag names: JSON, a file with or without @, or - for standard input. It reads
// at most the maximum size of a payload.
func readPayload(flag string, std terminal.Streams) ([]byte, error) {
	path, isFile := strings.CutPrefix(flag, "@")
	if !isFile && (strings.HasPrefix(flag, "{") || strings.HasPrefix(flag, "[")) {
		return []byte(flag), nil
	}
	in := std.In
	if flag != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, exit.With(exit.Usage, fmt.Errorf("--payload %s: %w; give JSON, @FILE, or - for standard input", flag, err))
		}
		defer f.Close()
		in = f
	}
	if in == nil {
		return nil, errors.New("standard input is not available, so the payload cannot be read from it")
	}
	text, err := io.ReadAll(io.LimitReader(in, deadletters.MaxPayload+1))
	return terminal.WithoutMark(text), err
}
