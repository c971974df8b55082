// Command stepback runs state machines and their retries on this machine. It imports CSV files of user activity
// through the same state machine and the same Lambda functions that run on AWS, shows what was retried and why, and
// explains the retry table.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"stepback/cmd/stepback/buildinfo"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/internal/gcpace"
)

const description = `Retries in workflows: a Step Functions-style engine and retry toolkit.

Exit status: 0 success; 1 failure; 2 wrong usage; 3 the input needs a person's attention (a refused definition, findings, rejected
or dead-lettered rows); 4 timed out; 5 aborted; 6 no test matches; 130 stopped by Ctrl-C.`

func main() {
	gcpace.Default.Keep()
	registerBuild()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	code := execute(ctx, os.Args[1:], terminal.NewStreams(os.Stdin, os.Stdout, os.Stderr))
	stop()
	os.Exit(code)
}

// released is the version of a release; the linker sets it (-X main.released=…).
var released string

// runner is implemented by every verb.
type runner interface {
	Run(ctx context.Context, std terminal.Streams) error
}

// parserOf returns kong's parser of command lines, which reads them into cli.
func parserOf(cli any, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(cli, append(append([]kong.Option{kong.Name("stepback"), kong.Description(description)}, mappers()...), options...)...)
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, args []string, io terminal.Streams) int {
	exited := -1
	io.Interrupted = ctx.Done()
	help := io.Out
	out := &terminal.Checked{Writer: io.Out, ShownOn: io.OutScreen()}
	io.Out = out
	if io.OutWidth == 0 {
		help = out // kong asks only an *os.File how wide its terminal is
	}
	cli := new(commandLine)
	cli.connect(execute)
	options := []kong.Option{
		kong.Writers(help, io.Err), kong.Exit(func(code int) { exited = code }),
		kong.Vars{"version": buildinfo.Line()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: helpWidth(io)}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(io),
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	args = helpAndVersionFlags(args)
	if command := parseVerb(cli, args, options); command != nil {
		err := command.Run()
		if err == nil {
			err = out.Err
		}
		return terminal.Report(io, err)
	}
	parser, err := parserOf(cli, options...)
	if err != nil {
		return terminal.Report(io, err)
	}
	command, err := parser.Parse(args)
	switch {
	case out.Err != nil:
		return terminal.Report(io, out.Err)
	case exited >= 0: // help or the version was printed
		return exited
	case err != nil:
		return misused(io, parser, args, err)
	}
	if err = command.Run(); err == nil {
		err = out.Err
	}
	return terminal.Report(io, err)
}

// parseVerb parses a correct command line with a parser that has only the verb it names, since kong's parser of all
// verbs takes longer to build than most verbs to run. It returns nil for all other command lines: those that ask for
// help or the version, and those that the whole parser rejects, in its words.
func parseVerb(cli *commandLine, args []string, options []kong.Option) *kong.Context {
	if slices.ContainsFunc(args, func(arg string) bool {
		return arg == "-h" || strings.HasPrefix(arg, "--help") || strings.HasPrefix(arg, "--version")
	}) {
		return nil
	}
	all := reflect.ValueOf(cli).Elem()
	for i := range all.NumField() {
		field := all.Type().Field(i)
		name := cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) // that of several words is kong's
		if _, verb := field.Tag.Lookup("cmd"); !verb || name != args[0] {
			continue
		}
		one := reflect.New(reflect.StructOf([]reflect.StructField{field}))
		one.Elem().Field(0).Set(all.Field(i))
		parser, err := parserOf(one.Interface(), options...)
		if err != nil {
			return nil
		}
		command, err := parser.Parse(args)
		if err != nil {
			return nil
		}
		return command
	}
	return nil
}

// misused reports what is wrong with a command line and returns the exit code.
func misused(io terminal.Streams, parser *kong.Kong, args []string, err error) int {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context.Selected() != nil {
		parser.Stdout = io.Err
		_ = parse.Context.PrintUsage(true)
	} else {
		fmt.Fprintln(io.Err, "Usage: stepback <command>; stepback --help lists the commands")
	}
	said := terminal.Words(err)
	if before, after, ok := strings.Cut(said, " (short flag); perhaps try "); ok {
		said = before + ", which begins with a dash: write " + strings.TrimSuffix(after, "?")
	}
	if h := hint(args); h != "" {
		said, _, _ = strings.Cut(said, ", did you mean ")
		said += "; " + h
	}
	fmt.Fprintf(io.Err, "stepback: %s\n", said)
	return exit.Usage
}

// helpWidth returns the largest width of help: the terminal's, at most 110 columns, or 80 without a terminal.
func helpWidth(io terminal.Streams) int {
	const widest, page = 110, 80
	if io.OutWidth > 0 {
		return min(io.OutWidth, widest)
	}
	return page
}
