// Command metrics is the Lambda function on the subscription of the state machine's log group. It counts retries from the
// logged events and prints them in CloudWatch's embedded metric format, which CloudWatch turns into metrics.
//
// It keeps open executions in memory between invocations, so it counts exactly with a reserved concurrency of 1; with more,
// attempts whose beginning another instance saw are counted as UnpairedEvents.
//
// Environment: CHILD_STATE, the only Task state of the Map's child executions (for log level ERROR, which does not name states).
package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"stepback/retrymetrics"
)

func main() {
	h := handler{
		reader: retrymetrics.LogReader{ChildState: os.Getenv("CHILD_STATE")},
		out:    os.Stdout, log: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	}
	lambda.Start(h.handle)
}

type handler struct {
	mu     sync.Mutex
	reader retrymetrics.LogReader
	out    io.Writer
	log    *slog.Logger
}

// handle takes one delivery of the subscription. A delivery that cannot be unpacked is an error; a record that cannot be read is
// logged and left out, for another delivery of it would be no better.
func (h *handler) handle(_ context.Context, event events.CloudwatchLogsEvent) error {
	data, err := event.AWSLogs.Parse()
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
			h.log.Warn("record left out", "logGroup", data.LogGroup, "logStream", data.LogStream, "event", e.ID, "error", err.Error())
			continue
		}
		records = append(records, r)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	lines, err := retrymetrics.AppendEMF(nil, h.reader.Read(records))
	if err != nil {
		return err
	}
	_, err = h.out.Write(lines)
	return err
}
