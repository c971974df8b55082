package retries

import (
	"context"

	"stepback/cmd/stepback/terminal"
	"stepback/dashboards"
	"stepback/retrymetrics"
)

type dashboardGrafanaCmd struct {
	StateMachine string `placeholder:"NAME" default:"csv-import" help:"Name of the state machine. Default csv-import."`
}

// Help shows an example.
func (dashboardGrafanaCmd) Help() string {
	return `Example:
  stepback dashboard grafana --state-machine orders > orders.json

Prints a dashboard for Grafana, with the same widgets as the one for CloudWatch. Its data are the metrics that stepback serve
exposes to Prometheus at /_stepback/metrics.`
}

// Run prints the file.
func (c *dashboardGrafanaCmd) Run(_ context.Context, std terminal.Streams) error {
	d, err := dashboards.Monitor(dashboards.Options{StateMachine: c.StateMachine, Region: "us-east-1",
		General: !retrymetrics.OfImport(c.StateMachine, nil)})
	if err != nil {
		return err
	}
	text, err := d.Grafana()
	if err != nil {
		return err
	}
	_, err = std.Out.Write(text)
	return err
}
