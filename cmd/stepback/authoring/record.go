package authoring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/jsonvalue"
	"stepback/local/functiontest/recording"
	"stepback/stepbacktest/machinetest"
)

// Record implements the verb record.
type Record struct {
	Execution  string `arg:"" optional:"" help:"Name or ARN of the execution, or ARN of an execution of a durable Lambda function."`
	History    string `type:"existingfile" placeholder:"FILE" help:"Record from this file instead, as aws stepfunctions get-execution-history or aws lambda get-durable-execution-history --include-execution-data prints it; needs --definition or --handler."`
	Definition string `placeholder:"FILE" help:"Definition file that the test refers to. Default: MACHINE.asl.json beside the output, which is written if it does not exist."`
	Handler    string `placeholder:"FILE.FUNCTION" help:"Handler of the durable function. Default: that of the deployed function."`
	Code       string `placeholder:"DIR" help:"Directory with the code of the durable function, relative to the output. Default: that of the output."`
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
  stepback record "$ARN" --code dist -o pay.test.yaml          # an execution of a durable function: see executions --durable
  stepback record --history durable.json --handler pay.handler -o pay.test.yaml

The test contains the input, the response to each attempt of each task, and the execution's outcome. For a durable Lambda
function, these are the responses of its steps, callbacks and chained invokes. These are real data: check them before you
commit the test.`
}

// Run writes the test.
func (c *Record) Run(ctx context.Context, std terminal.Streams) error {
	switch {
	case c.History != "" && c.Execution != "":
		return exit.With(exit.Usage, errors.New("name an execution or give --history, not both"))
	case c.History == "" && c.Execution == "":
		return exit.With(exit.Usage, errors.New("name an execution, or give --history FILE"))
	}
	if events, ok := c.durableFile(); ok {
		return c.fromDurableFile(std, events)
	}
	if durable.IsARN(c.Execution) {
		return c.fromDurable(ctx, std)
	}
	switch {
	case c.Handler != "" || c.Code != "":
		return exit.With(exit.Usage, errors.New("--handler and --code are for durable functions; name the ARN of one's execution (stepback executions --durable)"))
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
		return c.write(std, &machinetest.Recording{Name: "recorded", Definition: c.Definition, Events: events}, "", "")
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
		return c.write(std, r, r.Definition, definition)
	})
}

// durableFile returns the events of a file with the history of a durable execution; ok is false if --history names
// none.
func (c *Record) durableFile() (events []json.RawMessage, ok bool) {
	if c.History == "" {
		return nil, false
	}
	return executions.DurableHistoryFile(c.History)
}

// fromDurableFile writes the test of a durable function from a file with a history.
func (c *Record) fromDurableFile(std terminal.Streams, texts []json.RawMessage) error {
	switch {
	case c.Definition != "":
		return exit.With(exit.Usage, fmt.Errorf("%s is the history of a durable function, which has no definition: give --handler FILE.FUNCTION instead of --definition", c.History))
	case c.Handler == "":
		return exit.With(exit.Usage, errors.New("--history of a durable function needs --handler FILE.FUNCTION: a history does not contain it"))
	}
	events, err := durable.ParseEvents(texts)
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", c.History, err))
	}
	return c.writeDurable(std, &recording.Recording{Name: "recorded", Handler: c.Handler, Events: events}, c.History)
}

// fromDurable writes the test of a durable function from an execution that the Lambda API returns.
func (c *Record) fromDurable(ctx context.Context, std terminal.Streams) error {
	if c.Definition != "" {
		return exit.With(exit.Usage, fmt.Errorf("%s is an execution of a durable function, which has no definition: leave out --definition", c.Execution))
	}
	return c.Use(ctx, true, func(x *executions.Client) error {
		found, err := x.DescribeDurable(ctx, c.Execution)
		if err != nil {
			return err
		}
		all, err := x.DurableHistory(ctx, found.ARN)
		if err != nil {
			return err
		}
		r := &recording.Recording{Name: found.Name, Handler: c.Handler}
		for i := range all {
			r.Events = append(r.Events, all[i].Event)
		}
		if r.Handler == "" {
			if r.Handler, r.Runtime, err = x.HandlerOf(ctx, found.FunctionARN); err != nil {
				return fmt.Errorf("the handler of %s: %w; give --handler FILE.FUNCTION", found.FunctionARN, err)
			}
		}
		return c.writeDurable(std, r, found.ARN)
	})
}

// writeDurable writes the test of a durable function. from is where its history is from.
func (c *Record) writeDurable(std terminal.Streams, r *recording.Recording, from string) error {
	r.Code = c.Code
	if err := c.write(std, r, "", ""); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

// write writes the test, and next to it the definition if that file, whose name is given, is missing.
func (c *Record) write(std terminal.Streams, r interface{ Write(w io.Writer) error }, name, definition string) error {
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
	if beside := filepath.Join(filepath.Dir(c.Output), name); definition != "" && !terminal.Exists(beside) {
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
