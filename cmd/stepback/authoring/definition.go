package authoring

import (
	"context"
	"fmt"
	"strings"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/statemachine"
)

// Definition implements the verb definition.
type Definition struct {
	Of string `arg:"" optional:"" help:"Definition file, template (FILE#NAME names one of its machines), or the name or ARN of a state machine. Default: the CSV import."`
	definitions.Substitutions
	workspace.Where
}

// Help shows examples.
func (Definition) Help() string {
	return `Examples:
  stepback definition > csv-import.asl.json
  stepback definition template.yaml#Orders --substitute ChargeArn=arn:aws:lambda:us-east-1:123456789012:function:charge
  stepback definition orders --aws`
}

// Run prints a definition as JSON for Step Functions.
func (c *Definition) Run(ctx context.Context, std terminal.Streams) error {
	if c.Of == "" {
		text, err := statemachine.Definition(statemachine.DefaultTable(), statemachine.Substitutions())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(std.Out, strings.TrimSpace(indented(string(text))))
		return err
	}
	if file, _ := definitions.PartOf(c.Of); terminal.Exists(file) || definitions.IsDefinition(file) || file == "-" {
		d, err := c.Read(c.Of, std)
		if err != nil {
			return err
		}
		if len(d.Document.Problems) > 0 {
			fmt.Fprint(std.Err, d.Render(d.Document.Problems))
			return exit.With(exit.Data, nil)
		}
		_, err = fmt.Fprintln(std.Out, strings.TrimSpace(indented(d.Text)))
		return err
	}
	return c.Use(ctx, false, func(x *executions.Client) error {
		text, _, err := x.Definition(ctx, c.Of)
		if err == nil {
			_, err = fmt.Fprintln(std.Out, strings.TrimSpace(indented(text)))
		}
		return err
	})
}
