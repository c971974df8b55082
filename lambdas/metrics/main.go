// Command metrics is the Lambda function on the subscriptions of the log groups of one or more state machines. It
// counts retries from the logged events, by state machine, and prints them in CloudWatch's embedded metric format,
// which CloudWatch turns into metrics.
//
// It keeps open executions in memory between invocations, so it counts exactly with a reserved concurrency of 1; with
// more, records that another instance received are counted as UnpairedEvents. Deliveries may arrive in any order.
//
// The event {"publish": "circuit-breaker"} makes it publish that a circuit breaker is open, if the database's or the
// buckets' is and an execution runs. Every other event, such as a schedule's, makes it publish the state machine's
// current retry settings.
//
// Environment: LOG_LEVEL, the state machines' log level, ALL (the default) or ERROR; CHILD_STATE, the only Task state
// of the Map's child executions, if they have only one (for log level ERROR, which does not name states);
// STATE_MACHINE_ARN, the state machine whose configuration is published; BREAKER_TABLE, the DynamoDB table of the
// circuit breakers; METRIC_DATA, which is put for an endpoint whose logs do not extract metrics, such as LocalStack:
// the function then puts its metrics into CloudWatch, and those in the logs of other functions that it is subscribed
// to.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/shared"
	"stepback/adaptive/shared/dynamostore"
	"stepback/csvimport/handlers"
	"stepback/retrymetrics"
)

func main() {
	// LOG_LEVEL is the log level of the state machine, not of this logger.
	log := slog.New(handlers.WithRequest(slog.NewJSONHandler(os.Stderr, nil)))
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	machines := sfn.NewFromConfig(cfg)
	h := handler{
		reader: retrymetrics.LogReader{Level: retrymetrics.Level(os.Getenv("LOG_LEVEL")),
			ChildState: os.Getenv("CHILD_STATE")},
		out: os.Stdout, log: log,
		machines: machines, running: machines, machineARN: os.Getenv("STATE_MACHINE_ARN"), now: time.Now,
	}
	if table := os.Getenv("BREAKER_TABLE"); table != "" {
		h.breakers = &dynamostore.Store{Client: dynamodb.NewFromConfig(cfg), Table: table}
	}
	switch to := os.Getenv("METRIC_DATA"); to {
	case "":
	case "put":
		h.put = &putter{cloudwatch.NewFromConfig(cfg)}
	default:
		log.Error("cannot start", "error", fmt.Sprintf("METRIC_DATA is %q; set it to put, or leave it unset to print metrics", to))
		os.Exit(1)
	}
	lambda.Start(h.handle)
}

type handler struct {
	mu     sync.Mutex
	reader retrymetrics.LogReader
	out    io.Writer
	put    *putter // puts metrics into CloudWatch; nil prints them to out
	log    *slog.Logger

	machines   machines
	running    executions
	machineARN string
	breakers   shared.Store // nil if there are none
	now        func() time.Time
}

// handle handles one event: a delivery of the subscription, or a request to publish the circuit breaker's state or the
// configuration.
func (h *handler) handle(ctx context.Context, event json.RawMessage) error {
	var request struct {
		events.CloudwatchLogsEvent
		Publish string `json:"publish"`
	}
	if err := json.Unmarshal(event, &request); err != nil {
		return err
	}
	switch {
	case request.AWSLogs.Data != "":
		return h.records(ctx, request.AWSLogs)
	case request.Publish == "circuit-breaker":
		return h.circuit(ctx)
	case request.Publish != "":
		return fmt.Errorf("publish is %q; set it to circuit-breaker, or leave it out to publish the configuration",
			request.Publish)
	default:
		return h.configuration(ctx)
	}
}

// machine returns the name of the state machine.
func (h *handler) machine() string { return h.machineARN[strings.LastIndexByte(h.machineARN, ':')+1:] }

// records counts one delivery. It returns an error if the delivery cannot be unpacked. A record that cannot be read
// is logged and skipped, since delivering it again would not help.
func (h *handler) records(ctx context.Context, delivery events.CloudwatchLogsRawData) error {
	data, err := delivery.Parse()
	if err != nil {
		return err
	}
	if data.MessageType == "CONTROL_MESSAGE" {
		return nil
	}
	records := make([]retrymetrics.Record, 0, len(data.LogEvents))
	var lines []byte
	for _, e := range data.LogEvents {
		if h.put != nil && isEmbedded(e.Message) {
			lines = append(append(lines, e.Message...), '\n')
			continue
		}
		r, err := retrymetrics.ParseRecord([]byte(e.Message))
		if err != nil && ofFunction(data.LogGroup) {
			continue // a line of a function's own log, of which only embedded metrics are read
		}
		if err != nil {
			h.log.WarnContext(ctx, "record skipped", "logGroup", data.LogGroup, "logStream", data.LogStream, "event", e.ID,
				"error", err.Error())
			continue
		}
		records = append(records, r)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.publish(ctx, lines, h.reader.Read(records))
}

// ofFunction reports whether a log group is that of a function.
func ofFunction(logGroup string) bool { return strings.HasPrefix(logGroup, "/aws/lambda/") }

// publish prints points to the function's log, where CloudWatch picks them up, or puts them into CloudWatch, with those
// of lines.
func (h *handler) publish(ctx context.Context, lines []byte, points []retrymetrics.Point) error {
	lines, err := retrymetrics.AppendEMF(lines, points)
	if err != nil {
		return err
	}
	if h.put != nil {
		return h.put.put(ctx, lines)
	}
	_, err = h.out.Write(lines)
	return err
}
