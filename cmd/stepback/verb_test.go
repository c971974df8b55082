package main

import (
	"slices"
	"testing"

	"github.com/alecthomas/kong"

	"stepback/cmd/stepback/terminal"
)

// A correct command line needs the parser of its verb alone; all others are left to the whole parser.
func TestParseVerb(t *testing.T) {
	t.Parallel()
	cli := new(commandLine)
	options := []kong.Option{kong.Bind(terminal.Streams{}), kong.Exit(func(int) { t.Error("the parser ends the process") })}
	command := parseVerb(cli, []string{"serve", "--listen", "127.0.0.1:0", "-q"}, options)
	if command == nil || command.Command() != "serve" {
		t.Fatalf("serve: %+v", command)
	}
	if command = parseVerb(cli, []string{"retry-now", "e", "--state", "S"}, options); command == nil || command.Command() != "retry-now <execution>" {
		t.Errorf("retry-now: %+v", command)
	}
	for _, args := range [][]string{{"serve", "--odd"}, {"serve", "--help"}, {"serve", "-h"}, {"--version"}, {"server"}, {"retries"},
		{"Serve"}, {"--listen"}} {
		if command := parseVerb(cli, slices.Clone(args), options); command != nil {
			t.Errorf("%q: %s", args, command.Command())
		}
	}
}
