package retries

import (
	"context"

	"stepback/alarms"
	"stepback/aws"
	"stepback/cmd/stepback/terminal"
	"stepback/dashboards"
	"stepback/retrymetrics"
)

type dashboardBodyCmd struct {
	StateMachine string `placeholder:"NAME" default:"csv-import" help:"Name of the state machine. Default csv-import."`
	FilesMachine string `placeholder:"NAME" help:"Name of the state machine that imports many files as one. Without it, the dashboard shows none."`
	Region       string `placeholder:"REGION" default:"us-east-1" help:"Region of its metrics. Default us-east-1."`
	Account      string `placeholder:"ID" help:"Account of its alarms. Without one, the dashboard shows no alarms."`
	Level        string `enum:"ALL,ERROR" default:"ALL" help:"Log level of the state machine: ALL or ERROR. Default ALL."`
}

// Help shows an example.
func (dashboardBodyCmd) Help() string {
	return `Examples:
  stepback dashboard body --state-machine csv-import-dev --region us-east-1 > body.json
  aws cloudwatch put-dashboard --dashboard-name CSV-Processing-Retry-Monitor-dev --dashboard-body file://body.json`
}

// Run prints the body.
func (c *dashboardBodyCmd) Run(_ context.Context, std terminal.Streams) error {
	o := dashboards.Options{StateMachine: c.StateMachine, Region: c.Region, Level: retrymetrics.Level(c.Level),
		FilesMachine: c.FilesMachine, General: !retrymetrics.OfImport(c.StateMachine, nil)}
	if c.Account != "" {
		set, err := alarms.New(alarms.Options{StateMachine: c.StateMachine, Level: o.Level, General: o.General})
		if err != nil {
			return err
		}
		scope := aws.Scope{Account: c.Account, Region: c.Region}
		for _, a := range set.Alarms {
			o.Alarms = append(o.Alarms, scope.ARN("cloudwatch", "alarm:"+set.FullName(a.Name)))
		}
	}
	d, err := dashboards.Monitor(o)
	if err != nil {
		return err
	}
	body, err := d.Body()
	if err != nil {
		return err
	}
	_, err = std.Out.Write(body)
	return err
}
