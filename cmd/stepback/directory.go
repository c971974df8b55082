package main

import (
	"context"
	"errors"
	"fmt"

	"stepback/local"
)

// directoryVerb is a verb about a data directory. It is carried out by the process that has the directory open, or
// alone when there is none. Its exported fields are all that it knows.
type directoryVerb interface {
	// alone carries the verb out on a directory that no process has open.
	alone(ctx context.Context, std streams) error
	// on carries the verb out in the process that has the directory open.
	on(ctx context.Context, std streams, p *local.Platform) error
}

// onDirectory carries a verb out wherever its data directory is open.
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
	if errors.As(err, &taken) { // by a process that began at the same moment, or one that takes no clients
		if server, e := local.Running(ctx, dir); e == nil && server != nil {
			return ask(ctx, std, dir, server, v)
		}
	}
	return inUse(err)
}

// inUse says what to do about a data directory that another process has open.
func inUse(err error) error {
	var taken *local.InUseError
	if !errors.As(err, &taken) || taken.Server == nil {
		return err
	}
	return fmt.Errorf("%w: use that address, or end the process first", err)
}

// endFirst is the refusal of a verb that needs the directory to itself.
func endFirst(p *local.Platform, what string) error {
	return &exitError{exitUsage, fmt.Errorf("%s while another process serves %s at %s; end it first", what, p.Dir,
		p.Endpoint)}
}
