// Command adapt is the Lambda function of the adaptive controller, to be run on a schedule: every invocation
// measures, decides and applies once. Its response is the decision. If Step Functions refuses a change, the
// invocation fails, so that the function's own alarm fires.
//
// The time of a tick is the event's member time, as in EventBridge's scheduled events, so that the schedule's clock
// counts. If an event has no time, or one older than a quarter of an hour, such as the console's sample, the
// current time is used.
//
// Environment: STATE_MACHINE_ARN; STATE_MACHINE_ALIAS, the ARN of the alias with which executions are started, if
// there is one; CONFIGURATION_TABLE, the DynamoDB table of the controller's rows (retry_configurations), from which
// functions also read what retries are worth; RECORD_VALUE, the value of a successful task in USD, without which no
// histories are read and no retry is found to be unprofitable; DELAY_PER_HOUR, the cost of an hour of delay;
// FUNCTION_MEMORY in MB and FUNCTION_ARCHITECTURE of the called functions; CAPACITY, the calls per second that the
// callee serves, measured if not set; RULES, standard or source; CONCURRENCY_LIMIT, how many calls of a function
// may run at a time, for the source's rules; LOAD_HOURS, the time zone in which these rules lengthen delays by the
// hour if the load is not measured; DRY_RUN, true to propose changes and make none.
//
// Changes and proposals are counted under the state machine's name, in CloudWatch's embedded metric format
// (ControllerChanges, ControllerProposals).
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's provided.al2023 has no time zone data

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/analysis"
	"stepback/adaptive/controller"
	"stepback/adaptive/controller/decide"
	"stepback/adaptive/worth"
	"stepback/aws/client"
	"stepback/csvimport/handlers"
	"stepback/retrymetrics"
)

func main() {
	log := slog.New(handlers.WithRequest(slog.NewJSONHandler(os.Stderr, nil)))
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	c, err := configured(os.Getenv)
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	states := sfn.NewFromConfig(cfg)
	c.StepFunctions, c.Aliases, c.Versions = states, states, states
	c.Metrics = controller.CloudWatch{Client: cloudwatch.NewFromConfig(cfg)}
	events, err := client.NewNamed(context.Background(), cfg, "eventbridge")
	if err == nil {
		c.Events = events
		c.Rows, err = rows(cfg)
	}
	if err == nil && c.Economy != nil {
		c.Economy.Histories = controller.HistoriesOf{Client: states, Most: historiesAtOnce}
		c.Economy.Tell, err = configurations(cfg)
	}
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	h := handler{controller: c, log: log, out: os.Stdout}
	lambda.Start(h.handle)
}

// rows returns the controller's rows, stored in the function's table.
func rows(cfg aws.Config) (controller.Rows, error) {
	dynamodb, err := client.NewNamed(context.Background(), cfg, "dynamodb")
	return &controller.DynamoRows{Client: dynamodb, Table: os.Getenv("CONFIGURATION_TABLE")}, err
}

// historiesAtOnce is the number of histories read in one invocation; each takes some tens of milliseconds.
const historiesAtOnce = 400

// configurations returns the configurations that functions read, stored in the same table.
func configurations(cfg aws.Config) (controller.Configurations, error) {
	dynamodb, err := client.NewNamed(context.Background(), cfg, "dynamodb")
	return controller.DynamoConfigurations{Client: dynamodb, Table: os.Getenv("CONFIGURATION_TABLE")}, err
}

// number reads a non-negative number from an environment variable; 0 if it is not set.
func number(env func(string) string, name, what string) (float64, error) {
	text := env(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0) || n > 1e9 {
		return 0, fmt.Errorf("%s is %q; set it to %s, or leave it unset", name, text, what)
	}
	return n, nil
}

// economy returns the values by which retries are judged; nil if no value is set.
func economy(env func(string) string) (*controller.Economy, error) {
	value, err := number(env, "RECORD_VALUE", "the value of a success in USD")
	if err != nil || value == 0 {
		return nil, err
	}
	delay, err := number(env, "DELAY_PER_HOUR", "the cost of an hour of delay in USD")
	if err != nil {
		return nil, err
	}
	memory, err := number(env, "FUNCTION_MEMORY", "the functions' memory in MB")
	if err != nil {
		return nil, err
	}
	p := analysis.DefaultOptions()
	p.Value, p.DelayPerHour, p.Region = value, delay, cmp.Or(env("AWS_REGION"), p.Region)
	if memory > 0 {
		p.MemoryMB = int(memory)
	}
	if architecture := env("FUNCTION_ARCHITECTURE"); architecture != "" {
		p.Architecture = worth.Architecture(architecture)
	}
	return &controller.Economy{Prices: p}, p.Validate()
}

// configured returns the controller that the environment describes, without its clients.
func configured(env func(string) string) (*controller.Controller, error) {
	c := &controller.Controller{
		Machine: env("STATE_MACHINE_ARN"), Alias: env("STATE_MACHINE_ALIAS"),
		SparesIdle: true, Parameters: decide.Defaults(), Owner: env("AWS_LAMBDA_LOG_STREAM_NAME"),
	}
	if c.Machine == "" || env("CONFIGURATION_TABLE") == "" {
		return nil, errors.New("STATE_MACHINE_ARN or CONFIGURATION_TABLE is not set; set both")
	}
	if c.Alias == c.Machine {
		c.Alias = ""
	}
	if c.Owner == "" {
		c.Owner = "adapt"
	}
	if text := env("CAPACITY"); text != "" {
		capacity, err := strconv.ParseFloat(text, 64)
		if err != nil || !(capacity > 0) || capacity > 1e9 {
			return nil, fmt.Errorf("CAPACITY is %q; set it to calls per second, above 0, or leave it unset", text)
		}
		c.Capacity = capacity
	}
	if text := env("RULES"); text != "" {
		c.Parameters.Rules = decide.Rules(text)
	}
	if text := env("LOAD_HOURS"); text != "" {
		zone, err := time.LoadLocation(text)
		if err != nil {
			return nil, fmt.Errorf("LOAD_HOURS is %q; set it to a time zone such as Asia/Tokyo, or leave it unset", text)
		}
		hours := decide.SourceHours(zone)
		c.Parameters.Hours = &hours
	}
	if text := env("DRY_RUN"); text != "" {
		dry, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("DRY_RUN is %q; set it to true or false", text)
		}
		c.DryRun, c.Proposes = dry, dry
	}
	var err error
	if c.Economy, err = economy(env); err != nil {
		return nil, err
	}
	if c.ConcurrencyLimit, err = number(env, "CONCURRENCY_LIMIT", "the maximum number of concurrent calls"); err != nil {
		return nil, err
	}
	return c, c.Parameters.Validate()
}

type handler struct {
	controller *controller.Controller
	log        *slog.Logger
	out        io.Writer // takes metrics
}

// publish prints the numbers of changes and of new proposals.
func (h handler) publish(res controller.Result) error {
	machine := h.controller.Machine[strings.LastIndexByte(h.controller.Machine, ':')+1:]
	var points []retrymetrics.Point
	for metric, decisions := range map[*retrymetrics.Metric][]decide.Decision{
		retrymetrics.ControllerChanges: res.Applied, retrymetrics.ControllerProposals: res.Proposed,
	} {
		for _, d := range decisions {
			points = append(points, retrymetrics.Point{
				Metric: metric, Labels: retrymetrics.Labels{StateMachine: machine, State: d.State},
				Start: res.At.Truncate(time.Minute), Values: []float64{1}, Counts: []int64{1},
			})
		}
	}
	lines, err := retrymetrics.AppendEMF(nil, points)
	if err != nil {
		return err
	}
	_, err = h.out.Write(lines)
	return err
}

// oldEvent is the age from which an event's time is ignored.
const oldEvent = 15 * time.Minute

// at returns the time of the tick that an event requests.
func at(event json.RawMessage, now time.Time) time.Time {
	var scheduled struct {
		Time time.Time `json:"time"`
	}
	if json.Unmarshal(event, &scheduled) != nil || scheduled.Time.Before(now.Add(-oldEvent)) {
		return now
	}
	return scheduled.Time
}

// handle runs one tick at the event's time.
func (h handler) handle(ctx context.Context, event json.RawMessage) (controller.Result, error) {
	res, err := h.controller.TickAt(ctx, at(event, time.Now()))
	if err != nil {
		return res, err
	}
	if err := h.publish(res); err != nil {
		h.log.WarnContext(ctx, "metrics", "error", err.Error())
	}
	for _, d := range res.Decisions {
		h.log.InfoContext(ctx, "decision", "verdict", string(d.Verdict), "decision", d.String())
	}
	for _, text := range res.Warnings {
		h.log.WarnContext(ctx, text)
	}
	if res.Note != "" && len(res.Decisions) == 0 {
		h.log.InfoContext(ctx, "no decision", "note", res.Note)
	}
	if res.Failed != "" {
		return res, errors.New(res.Failed)
	}
	return res, nil
}
