package main

import (
	"context"
	"fmt"
	"strings"

	"stepback/cmd/stepback/executions"
	"stepback/statemachine"
)

type definitionCmd struct {
	Of string `arg:"" optional:"" help:"Definition file, template (FILE#NAME names one of its machines), or the name or ARN of a state machine. Default: the CSV import."`
	substitutions
	where
}

// Help shows examples.
func (definitionCmd) Help() string {
	return `Examples:
  stepback definition > csv-import.asl.json
  stepback definition template.yaml#Orders --substitute ChargeArn=arn:aws:lambda:us-east-1:123456789012:function:charge
  stepback definition orders --aws`
}

// Run prints a definition as JSON for Step Functions.
func (c *definitionCmd) Run(ctx context.Context, std streams) error {
	if c.Of == "" {
		text, err := statemachine.Definition(statemachine.DefaultTable(), statemachine.Substitutions())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(std.out, strings.TrimSpace(indented(string(text))))
		return err
	}
	if file, _ := partOf(c.Of); exists(file) || isDefinition(file) || file == "-" {
		values, err := c.values()
		if err != nil {
			return &exitError{exitUsage, err}
		}
		d, err := readDefinition("", c.Of, values, std)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		if err := c.unknown(d); err != nil {
			return &exitError{exitUsage, err}
		}
		if len(d.document.Problems) > 0 {
			fmt.Fprint(std.err, d.render(d.document.Problems))
			return &exitError{code: exitData}
		}
		_, err = fmt.Fprintln(std.out, strings.TrimSpace(indented(d.text)))
		return err
	}
	return c.use(ctx, false, func(x *executions.Client) error {
		text, _, err := x.Definition(ctx, c.Of)
		if err == nil {
			_, err = fmt.Fprintln(std.out, strings.TrimSpace(indented(text)))
		}
		return err
	})
}
