package retries

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/analysis"
	"stepback/adaptive/configuration"
	"stepback/adaptive/controller"
	"stepback/adaptive/controller/decide"
	"stepback/adaptive/predict"
	"stepback/adaptive/worth"
	"stepback/aws/client"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/dashboards/cloudwatch"
	"stepback/retrymetrics/metricsfile"
)

// Adapt implements the verb adapt.
type Adapt struct {
	StateMachine string `required:"" placeholder:"ARN" help:"The state machine."`

	Once    bool          `xor:"mode" help:"Measure, decide and apply once; the default."`
	Watch   bool          `xor:"mode" help:"Repeat at every --every until Ctrl-C."`
	History bool          `xor:"mode" help:"Only print the audit record."`
	DryRun  bool          `help:"Decide, but write nothing."`
	Adopt   bool          `help:"Accept the current definition as the base, even if another program or person wrote it."`
	Every   time.Duration `default:"1m" help:"How often --watch measures. Default 1m."`

	Endpoint string `placeholder:"URL" help:"Endpoint of Step Functions and the other services, instead of AWS."`
	Data     string `type:"existingdir" placeholder:"DIR" help:"Read metrics from a data directory instead of CloudWatch, and store the controller's records there."`
	Table    string `placeholder:"NAME" help:"Store the controller's records in this DynamoDB table, such as retry_configurations."`
	Rows     string `placeholder:"DIR" help:"Store the controller's records in this directory, instead of the user's configuration directory."`
	Events   bool   `help:"Send changes to EventBridge as events."`

	Capacity     float64 `placeholder:"N" help:"Calls per second that the callee can serve. Default: measured."`
	Value        float64 `placeholder:"USD" help:"What a task is worth if it succeeds in the end. With a value, the controller reads the histories of the last week, drops retries that do not pay, and tells functions which retries cost more than they bring."`
	DelayPerHour float64 `placeholder:"USD" help:"Cost of delaying one task by an hour. Default 0."`
	Memory       int     `default:"1024" placeholder:"MB" help:"Memory of the called functions, which sets their price. Default 1024."`
	Region       string  `default:"us-east-1" help:"Region whose prices are used. Default us-east-1."`
	Model        string  `type:"existingfile" placeholder:"FILE" help:"Model from predict train, with which functions estimate the chance that a retry succeeds."`

	ConcurrencyLimit float64 `placeholder:"N" help:"Maximum concurrent calls of a function, for --rules source."`

	LoadHours string `placeholder:"ZONE" help:"Where the load is not measured, lengthen delays by the hour of the day in this time zone, such as Asia/Tokyo; for --rules source."`

	Rules string `default:"standard" enum:"standard,source" help:"Rules to decide by: standard, or source for those of the source design."`
	JSON  bool   `name:"json" help:"Print one JSON object per result."`

	architecture
}

// Help shows examples.
func (Adapt) Help() string {
	return `Measures how often the tasks of a state machine succeed, and changes its retries where the measurements show that it helps:
fewer retries when the callee is overloaded, longer waits in an outage, less concurrency for a running Map, and the deployed
settings again once errors stop. It makes at most two changes an hour, and none if the definition was changed by anything else.

Examples:
  stepback adapt --state-machine ARN --dry-run
  stepback adapt --state-machine ARN --watch --capacity 25 --table retry_configurations
  stepback adapt --state-machine ARN --endpoint http://localhost:8083 --data ./data --once
  stepback adapt --state-machine ARN --watch --value 0.001 --table retry_configurations
  stepback adapt --state-machine ARN --history

Exit status: 1 if something cannot be read or a change is refused.`
}

// Run adapts, or prints the audit record.
func (c *Adapt) Run(ctx context.Context, std terminal.Streams) error {
	a, err := c.controller(ctx)
	if err != nil {
		return err
	}
	if c.History {
		return c.history(ctx, a, std)
	}
	if !c.Watch {
		return c.tick(ctx, a, std)
	}
	if c.Every < 10*time.Second {
		return exit.With(exit.Usage, fmt.Errorf("--every is %v; metrics have one-minute resolution, so use 10s or more",
			c.Every))
	}
	return c.watch(ctx, a, std)
}

// watch runs a tick every c.Every until it is stopped. If a tick fails, it prints the error, and the next tick
// tries again.
func (c *Adapt) watch(ctx context.Context, a *controller.Controller, std terminal.Streams) error {
	ticker := time.NewTicker(c.Every)
	defer ticker.Stop()
	for {
		if err := c.tick(ctx, a, std); err != nil && ctx.Err() == nil {
			fmt.Fprintln(std.Err, "stepback: "+err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (c *Adapt) tick(ctx context.Context, a *controller.Controller, std terminal.Streams) error {
	if c.Data != "" {
		points, err := metricsfile.Read(c.Data)
		if err != nil {
			return err
		}
		a.Metrics = controller.Recorded(points)
	}
	res, err := a.Tick(ctx)
	if err != nil {
		return err
	}
	a.Adopt = false // only once
	if c.JSON {
		err = terminal.PrintJSON(std.Out, res)
	} else {
		for _, d := range res.Decisions {
			fmt.Fprintf(std.Out, "%s  %s\n", res.At.Format(time.RFC3339), d)
		}
		for _, text := range res.Warnings {
			fmt.Fprintln(std.Err, "stepback: "+text)
		}
		if res.Note != "" {
			fmt.Fprintf(std.Out, "%s  %s\n", res.At.Format(time.RFC3339), res.Note)
		}
	}
	if res.Failed != "" {
		return errors.New(res.Failed)
	}
	return err
}

func (c *Adapt) history(ctx context.Context, a *controller.Controller, std terminal.Streams) error {
	row, err := a.Rows.Load(ctx, c.StateMachine)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, row.History)
	}
	if len(row.History) == 0 {
		fmt.Fprintln(std.Out, "no records: adapt has neither measured nor changed anything")
	}
	for _, e := range row.History {
		fmt.Fprintf(std.Out, "%s  %-9s  %s\n", e.At.Format(time.RFC3339), e.What, e.Text)
	}
	return nil
}

// controller returns the controller with its clients.
func (c *Adapt) controller(ctx context.Context) (*controller.Controller, error) {
	cfg, err := workspace.AWSConfig(ctx, c.Endpoint)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "stepback"
	}
	a := &controller.Controller{
		Machine: c.StateMachine, StepFunctions: sfn.NewFromConfig(cfg), Parameters: decide.Defaults(),
		Capacity: c.Capacity,
		Owner:    fmt.Sprintf("%s/%d", host, os.Getpid()), DryRun: c.DryRun, Adopt: c.Adopt,
		Metrics: controller.CloudWatch{Client: cloudwatch.ClientOf(awscloudwatch.NewFromConfig(cfg))},
	}
	a.Parameters.Rules = decide.Rules(c.Rules)
	if c.Capacity < 0 {
		return nil, exit.With(exit.Usage, fmt.Errorf("--capacity is %v; it must be above 0 calls a second", c.Capacity))
	}
	if c.Events {
		if a.Events, err = client.NewNamed(ctx, cfg, "eventbridge"); err != nil {
			return nil, err
		}
	}
	a.ConcurrencyLimit = c.ConcurrencyLimit
	if c.LoadHours != "" {
		zone, err := time.LoadLocation(c.LoadHours)
		if err != nil {
			return nil, exit.With(exit.Usage, fmt.Errorf("--load-hours: %w", err))
		}
		hours := decide.SourceHours(zone)
		a.Parameters.Hours = &hours
	}
	if a.Rows, err = c.rows(ctx, cfg); err != nil {
		return nil, err
	}
	a.Economy, err = c.economy(ctx, cfg)
	return a, err
}

// economy returns the settings by which retries are valued; nil if neither a value nor a model is given.
func (c *Adapt) economy(ctx context.Context, cfg aws.Config) (*controller.Economy, error) {
	if c.Value == 0 && c.Model == "" {
		return nil, nil
	}
	e := &controller.Economy{Histories: controller.HistoriesOf{Client: sfn.NewFromConfig(cfg)},
		Prices: analysis.Options{
			Region: c.Region, MemoryMB: c.Memory, Architecture: c.of(worth.X86), Value: c.Value,
			DelayPerHour: c.DelayPerHour,
			Spell:        analysis.DefaultOptions().Spell,
		}}
	if c.Value <= 0 {
		return nil, exit.With(exit.Usage, fmt.Errorf("--value is %v; --model needs the value of a success, in USD above 0", c.Value))
	}
	if err := e.Prices.Validate(); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if c.Model != "" {
		text, err := terminal.ReadFile(c.Model)
		if err != nil {
			return nil, err
		}
		if e.Model, err = predict.Read(text); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Model, err)
		}
	}
	switch {
	case c.Table != "":
		dynamodb, err := client.NewNamed(ctx, cfg, "dynamodb")
		if err != nil {
			return nil, err
		}
		e.Tell = controller.DynamoConfigurations{Client: dynamodb, Table: c.Table}
	case c.Data != "":
		e.Tell = configuration.Files{Directory: c.Data}
	}
	return e, nil
}

func (c *Adapt) rows(ctx context.Context, cfg aws.Config) (controller.Rows, error) {
	switch {
	case c.Table != "":
		dynamodb, err := client.NewNamed(ctx, cfg, "dynamodb")
		return &controller.DynamoRows{Client: dynamodb, Table: c.Table}, err
	case c.Rows != "":
		return &controller.FileRows{Directory: c.Rows}, nil
	case c.Data != "":
		return &controller.FileRows{Directory: c.Data}, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, exit.With(exit.Usage,
			fmt.Errorf("no place to store the controller's records: %w; name one with --rows or --table", err))
	}
	return &controller.FileRows{Directory: filepath.Join(dir, "stepback")}, nil
}
