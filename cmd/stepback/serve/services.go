package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stepback/aws/server"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/local"
)

// Services implements the verb services.
type Services struct {
	Name string `arg:"" optional:"" help:"A service, by its own name or the name of its API model: sqs, cloudwatchlogs."`
	JSON bool   `name:"json" help:"Print every operation of the services as JSON."`
}

// Help shows examples.
func (Services) Help() string {
	return `Examples:
  stepback services
  stepback services dynamodb
  stepback services --json | jq -r '.[] | .model as $m | .operations[] | select(.state == "supported") | "\($m):\(.name)"'

The list is generated from the operations that the services register. docs/services.md also describes differences from AWS.`
}

// Run opens a platform in a temporary directory, lists its services, and removes the platform.
func (c *Services) Run(ctx context.Context, std terminal.Streams) (err error) {
	p, err := local.Open(ctx, local.Config{Console: local.Console{Off: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	all := p.Coverage()
	if c.Name == "" {
		if c.JSON {
			return terminal.PrintJSON(std.Out, all)
		}
		t := terminal.NewTable("service", "model", ">operations", ">supported", ">partial", ">not supported", ">share")
		for _, s := range all {
			t.Add(s.Service, s.Model, len(s.Operations), s.Supported, s.Partial, s.Unsupported, fmt.Sprintf("%.0f %%", s.Share))
		}
		t.Print(std.Out, "")
		return nil
	}
	at := slices.IndexFunc(all, func(s server.Coverage) bool { return answersTo(&s, c.Name) })
	if at < 0 {
		return exit.With(exit.Usage, fmt.Errorf("no service %s; stepback services lists them", c.Name))
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, all[at:at+1])
	}
	t := terminal.NewTable("operation", "state", "what is missing")
	for _, o := range all[at].Operations {
		t.Add(o.Name, o.State, strings.ReplaceAll(o.Missing, "`", ""))
	}
	t.Print(std.Out, "")
	return nil
}

// answersTo reports whether name means the service, ignoring case, blanks, dashes and underscores.
func answersTo(s *server.Coverage, name string) bool {
	plain := strings.NewReplacer(" ", "", "-", "", "_", "")
	name = plain.Replace(name)
	return strings.EqualFold(plain.Replace(s.Service), name) || strings.EqualFold(s.Model, name)
}
