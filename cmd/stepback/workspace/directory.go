package workspace

import (
	"context"
	"errors"
	"fmt"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/local"
)

// DirectoryVerb is a verb that uses a data directory. It runs in the process that has the directory open, or alone if
// there is none. Its exported fields are its whole state.
type DirectoryVerb interface {
	// Alone runs the verb on a directory that no process has open.
	Alone(ctx context.Context, std terminal.Streams) error
	// On runs the verb in the process that has the directory open, on its platform p.
	On(ctx context.Context, std terminal.Streams, p *local.Platform) error
}

// OnDirectory runs a verb in the process that has its data directory open, or alone.
func OnDirectory(ctx context.Context, std terminal.Streams, dir string, v DirectoryVerb) error {
	server, err := local.Running(ctx, dir)
	if err != nil {
		return err
	}
	if server != nil {
		return ask(ctx, std, dir, server, v)
	}
	err = v.Alone(ctx, std)
	var taken *local.InUseError
	if errors.As(err, &taken) { // by a process that started at the same moment, or one that accepts no clients
		if server, e := local.Running(ctx, dir); e == nil && server != nil {
			return ask(ctx, std, dir, server, v)
		}
	}
	return InUse(err)
}

// InUse adds advice to the error for a data directory that another process has open.
func InUse(err error) error {
	var taken *local.InUseError
	if !errors.As(err, &taken) || taken.Server == nil {
		return err
	}
	return fmt.Errorf("%w: use that address, or end the process first", err)
}

// EndFirst returns the error for a verb that needs the directory to itself. It asks the user to end the process
// that serves the directory.
func EndFirst(p *local.Platform, what string) error {
	return exit.With(exit.Usage, fmt.Errorf("%s while another process serves %s at %s; end it first", what, p.Dir,
		p.Endpoint))
}

// DefaultData is the data directory of a command line without --data.
const DefaultData = ".stepback"
