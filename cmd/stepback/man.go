package main

import (
	"context"
	"fmt"

	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"

	"stepback/cmd/stepback/terminal"
)

type manCmd struct{}

// Help shows how to read and install the page.
func (manCmd) Help() string {
	return `Examples:
  stepback man | man -l -
  stepback man > ~/.local/share/man/man1/stepback.1`
}

// Run writes the manual page of all verbs and flags.
func (manCmd) Run(_ context.Context, std terminal.Streams) error {
	parser, err := parserOf(new(commandLine))
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(std.Out, mangokong.NewManPage(1, parser.Model).Build(roff.NewDocument()))
	return err
}
