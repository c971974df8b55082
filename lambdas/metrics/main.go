// Command metrics is the Lambda function on the subscription of the state machine's log group. It counts retries from
// the logged events and prints them in CloudWatch's embedded metric format, which CloudWatch turns into metrics.
//
// It keeps open executions in memory between invocations, so it counts exactly with a reserved concurrency of 1; with
// more, records that another instance received are counted as UnpairedEvents. Deliveries may arrive in any order.
//
// Every other event, such as a schedule's, makes it publish the state machine's current retry settings.
//
// Environment: LOG_LEVEL, the state machine's log level, ALL (the default) or ERROR; CHILD_STATE, the only Task state
// of the Map's child executions, if they have only one (for log level ERROR, which does not name states);
// STATE_MACHINE_ARN, the state machine whose configuration is published.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

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
	h := handler{
		reader: retrymetrics.LogReader{Level: retrymetrics.Level(os.Getenv("LOG_LEVEL")),
			ChildState: os.Getenv("CHILD_STATE")},
		out: os.Stdout, log: log,
		machines: sfn.NewFromConfig(cfg), machineARN: os.Getenv("STATE_MACHINE_ARN"), now: time.Now,
	}
	lambda.Start(h.handle)
}

type handler struct {
	mu     sync.Mutex
	reader retrymetrics.LogReader
	out    io.Writer
	log    *slog.Logger

	machines   machines
	machineARN string
	now        func() time.Time
}

// handle handles one event: a delivery of the subscription, or a request to publish the configuration.
func (h *handler) handle(ctx context.Context, event json.RawMessage) error {
	var delivery events.CloudwatchLogsEvent
	if err := json.Unmarshal(event, &delivery); err != nil {
		return err
	}
	if delivery.AWSLogs.Data == "" {
		return h.configuration(ctx)
	}
	return h.records(ctx, delivery.AWSLogs)
}

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
	for _, e := range data.LogEvents {
		r, err := retrymetrics.ParseRecord([]byte(e.Message))
		if err != nil {
			h.log.WarnContext(ctx, "record skipped", "logGroup", data.LogGroup, "logStream", data.LogStream, "event", e.ID,
				"error", err.Error())
			continue
		}
		records = append(records, r)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.publish(h.reader.Read(records))
}

// publish prints points to the function's log, where CloudWatch picks them up.
func (h *handler) publish(points []retrymetrics.Point) error {
	lines, err := retrymetrics.AppendEMF(nil, points)
	if err != nil {
		return err
	}
	_, err = h.out.Write(lines)
	return err
}
