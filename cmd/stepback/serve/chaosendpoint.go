package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/local/chaos"
)

// remoteConsole is the console of a running server, through which the faults of a server without a data directory on
// this machine are changed.
type remoteConsole struct{ workspace.Console }

func remote(endpoint string) *remoteConsole {
	return &remoteConsole{workspace.Console{Endpoint: endpoint}}
}

// faults returns the active faults.
func (c *remoteConsole) faults(ctx context.Context) ([]chaos.Fault, error) {
	body, err := c.Get(ctx, "chaos?format=json")
	if err != nil {
		return nil, err
	}
	var view struct {
		Faults []chaos.Fault `json:"faults"`
	}
	if err := json.Unmarshal(body, &view); err != nil {
		return nil, fmt.Errorf("%s is not a server of stepback: %w", c.Endpoint, err)
	}
	return append([]chaos.Fault{}, view.Faults...), nil
}

// act submits a form of the console's page of faults.
func (c *remoteConsole) act(ctx context.Context, verb string, form url.Values) error {
	_, err := c.Act(ctx, "chaos", verb, form)
	if refused := (*workspace.RefusedError)(nil); errors.As(err, &refused) {
		return exit.With(exit.Usage, err)
	}
	return err
}

// at adds the faults at an endpoint.
func (c *ChaosAdd) at(ctx context.Context, std terminal.Streams) error {
	if c.File != "" {
		return exit.With(exit.Usage, errors.New("--file is not available with --endpoint: write its faults as arguments, or use --data"))
	}
	server := remote(c.Endpoint)
	before, err := server.faults(ctx)
	if err != nil {
		return err
	}
	for _, f := range c.Fault {
		form := url.Values{"fault": {f}, "seed": {strconv.FormatUint(c.Seed, 10)}}
		if c.For > 0 {
			form.Set("for", c.For.String())
		}
		if err := server.act(ctx, "add-fault", form); err != nil {
			return err
		}
	}
	faults, err := server.faults(ctx)
	if err != nil {
		return err
	}
	if len(c.Fault) > 0 {
		faults = added(before, faults)
	}
	return printFaults(std, faults, c.JSON)
}

// added returns the faults that were not active before.
func added(before, after []chaos.Fault) []chaos.Fault {
	known := map[int]bool{}
	for i := range before {
		known[before[i].ID] = true
	}
	fresh := []chaos.Fault{}
	for i := range after {
		if !known[after[i].ID] {
			fresh = append(fresh, after[i])
		}
	}
	return fresh
}

// at lifts faults at an endpoint.
func (c *ChaosLift) at(ctx context.Context, std terminal.Streams) error {
	server := remote(c.Endpoint)
	ids := c.ID
	if c.All {
		faults, err := server.faults(ctx)
		if err != nil {
			return err
		}
		for i := range faults {
			ids = append(ids, faults[i].ID)
		}
	}
	n := 0
	for _, id := range ids {
		if err := server.act(ctx, "lift-fault", url.Values{"id": {strconv.Itoa(id)}}); err != nil {
			if n == 0 {
				return err
			}
			return errors.Join(err, c.print(std, n))
		}
		n++
	}
	return c.print(std, n)
}
