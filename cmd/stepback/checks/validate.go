package checks

import (
	"context"
	"fmt"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// Validate implements the verb validate.
type Validate struct {
	Files   []string `arg:"" help:"State machine definitions (Amazon States Language in JSON or YAML), - for standard input, templates that declare them (SAM, CloudFormation, cdk.out, Terraform's JSON, serverless.yml; FILE#NAME is one of them), or directories, which are searched for *.asl.json, *.asl.yaml, *.asl.yml and templates."`
	Express bool     `help:"Check as state machines of type EXPRESS."`
	JSON    bool     `name:"json" help:"Print the diagnostics of all files as JSON."`

	definitions.Substitutions
}

// Help shows an example.
func (Validate) Help() string {
	return `Examples:
  stepback validate statemachine.asl.json
  stepback validate definitions/ --json
  stepback validate template.yaml cdk.out
  stepback validate order.asl.yaml --substitute PayFunctionArn=arn:aws:lambda:us-east-1:123456789012:function:pay --substitute Days=30
  aws stepfunctions describe-state-machine --state-machine-arn ARN --query definition --output text | stepback validate -

A file that cannot be read does not keep the others from being checked: it is named on standard error.

Exit status: 0 if all definitions are accepted, with or without warnings; 2 if a named file cannot be read; 3 if a definition would be
refused, or something in a directory was not read: a broken template, a definition in S3, a state machine in Terraform's own language.`
}

// Run prints the errors of each definition, with the line and a caret.
func (c *Validate) Run(_ context.Context, std terminal.Streams) error {
	values, err := c.Values()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	read, unread := definitions.All(c.Files, values, std)
	if err := c.Unknown(read...); err != nil {
		return exit.With(exit.Usage, err)
	}
	all, refused := make([]definitions.Validated, 0, len(read)+len(unread)), false
	for _, d := range read {
		found := d.Diagnose(c.Express)
		v := definitions.NewValidated(&d, found)
		all, refused = append(all, v), refused || v.Result == "FAIL"
		if c.JSON {
			continue
		}
		text := d.Render(found)
		if std.Colour {
			text = terminal.Coloured(text)
		}
		if v.Result == "OK" {
			text += d.Path + ": accepted" + whatever(v.Placeholders) + "\n"
		} else {
			text += d.Path + ": refused\n"
		}
		fmt.Fprint(std.Out, text)
	}
	if c.JSON {
		for _, u := range unread {
			all = append(all, definitions.NotRead(u))
		}
		if err := terminal.PrintJSON(std.Out, all); err != nil {
			return err
		}
	}
	return definitions.Status(std, unread, refused)
}

// whatever returns the part of a message that lists the placeholders without a value, or "" if there are none.
func whatever(open []string) string {
	if len(open) == 0 {
		return ""
	}
	return ", whatever the values of " + definitions.Placeholders(open) + " are"
}
