package main

import (
	"context"
	"errors"
	"fmt"

	"stepback/local"
)

// directoryVerb is a verb that uses a data directory. It runs in the process that has the directory open, or alone if
// there is none. Its exported fields are its whole state.
type directoryVerb interface {
	// alone runs the verb on a directory that no process has open.
	alone(ctx context.Context, std streams) error
	// on runs the verb in the process that has the directory open.
	on(ctx context.Context, std streams, p *local.Platform) error
}

// onDirectory runs a verb in the process that has its data directory open, or alone.
func onDirectory(ctx context.Context, std streams, dir string, v directoryVerb) error {
	server, err := local.Running(ctx, dir)
	if err != nil {
		return err
	}
	if server != nil {
		return ask(ctx, std, dir, server, v)
	}
	err = v.alone(ctx, std)
	var taken *local.InUseError
	if errors.As(err, &taken) { // by a process that started at the same moment, or one that accepts no clients
		if server, e := local.Running(ctx, dir); e == nil && server != nil {
			return ask(ctx, std, dir, server, v)
		}
	}
	return inUse(err)
}

// inUse adds advice to the error for a data directory that another process has open.
func inUse(err error) error {
	var taken *local.InUseError
	if !errors.As(err, &taken) || taken.Server == nil {
		return err
	}
	return fmt.Errorf("%w: use that address, or end the process first", err)
}

// endFirst returns the error for a verb that needs exclusive use of the directory.
func endFirst(p *local.Platform, what string) error {
	return &exitError{exitUsage, fmt.Errorf("%s while another process serves %s at %s; end it first", what, p.Dir,
		p.Endpoint)}
}

// defaultData is the data directory of a command line without --data.
const defaultData = ".stepback"
