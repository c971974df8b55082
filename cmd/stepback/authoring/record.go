package authoring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/history"
	"stepback/jsonvalue"
	"stepback/stepbacktest/machinetest"
)

// Record implements the verb record.
type Record struct {
	Execution  string `arg:"" optional:"" help:"Name or ARN of the execution."`
	History    string `type:"existingfile" placeholder:"FILE" help:"Record from this file instead, as aws stepfunctions get-execution-history prints it; needs --definition."`
	Definition string `placeholder:"FILE" help:"Definition file that the test refers to. Default: MACHINE.asl.json beside the output, which is written if it does not exist."`
	Output     string `short:"o" type:"path" placeholder:"FILE" help:"File to write, NAME.test.yaml. Default: standard output."`
	workspace.Where
}

// Help shows examples.
func (Record) Help() string {
	return `Examples:
  stepback record order-17 -o orders.test.yaml && stepback test orders.test.yaml
  stepback record arn:aws:states:eu-west-1:123456789012:execution:orders:4711 --aws -o orders.test.yaml
  aws stepfunctions get-execution-history --execution-arn ARN --max-items 25000 > history.json
  stepback record --history history.json --definition orders.asl.json -o orders.test.yaml

The test contains the input, the response to each attempt of each task, and the execution's outcome. These are real data: check
them before you commit the test.`
}

// Run writes the test.
func (c *Record) Run(ctx context.Context, std terminal.Streams) error {
	switch {
	case c.History != "" && c.Execution != "":
		return exit.With(exit.Usage, errors.New("name an execution or give --history, not both"))
	case c.History == "" && c.Execution == "":
		return exit.With(exit.Usage, errors.New("name an execution, or give --history FILE"))
	case c.History != "" && c.Definition == "":
		return exit.With(exit.Usage, errors.New("--history needs --definition FILE: a history does not contain the definition"))
	}
	if c.History != "" {
		text, err := terminal.ReadFile(c.History)
		if err != nil {
			return err
		}
		events, err := history.ParseEvents(string(text))
		if err != nil {
			return exit.With(exit.Data, fmt.Errorf("%s: %w", c.History, err))
		}
		return c.write(std, &machinetest.Recording{Name: "recorded", Definition: c.Definition, Events: events}, "")
	}
	return c.Use(ctx, false, func(x *executions.Client) error {
		found, err := x.Find(ctx, c.Execution)
		if err != nil {
			return err
		}
		r := &machinetest.Recording{Name: found.Name}
		if r.Events, r.Children, err = x.WithChildren(ctx, found.ARN); err != nil {
			return err
		}
		definition := ""
		if r.Definition = c.Definition; r.Definition == "" {
			r.Definition = definitions.MachineName(executions.NameIn(found.MachineARN)) + definitions.Suffixes[0]
			if definition, err = x.DefinitionOf(ctx, found.ARN); err != nil {
				return err
			}
		}
		return c.write(std, r, definition)
	})
}

// write writes the test, and next to it the definition if that file is missing.
func (c *Record) write(std terminal.Streams, r *machinetest.Recording, definition string) error {
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return err
	}
	if c.Output == "" {
		_, err := std.Out.Write(b.Bytes())
		return err
	}
	if !machinetest.IsTestFile(c.Output) {
		return exit.With(exit.Usage, fmt.Errorf("-o %s: name a file that ends in .test.yaml", c.Output))
	}
	if beside := filepath.Join(filepath.Dir(c.Output), r.Definition); definition != "" && !terminal.Exists(beside) {
		if err := os.WriteFile(beside, []byte(indented(definition)), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(std.Out, beside)
	}
	if err := os.WriteFile(c.Output, b.Bytes(), 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintln(std.Out, c.Output)
	return err
}

// indented returns a definition with one member per line; it leaves text that is not JSON unchanged.
func indented(definition string) string {
	if strings.Contains(definition, "\n") {
		return definition
	}
	v, err := jsonvalue.Parse(definition)
	if err != nil {
		return definition
	}
	var b bytes.Buffer
	if err := terminal.PrintJSON(&b, rawJSON(v.JSON())); err != nil {
		return definition
	}
	return b.String()
}

// rawJSON is JSON text that is printed unchanged.
type rawJSON string

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }
