// Command relay is the Lambda function that an EventBridge schedule invokes, each minute for example, to send the
// messages in an outbox. Each invocation sends until nothing is due, or until shortly before its timeout. Several may
// run at once.
//
// Environment: DATABASE_URL (postgres://…, postgres+iam://… or secretsmanager:ARN), SINK (https://… or the ARN of an
// SNS topic, an SQS queue or an EventBridge event bus), WEBHOOK_SECRETS (separated by spaces, for a webhook),
// LOG_LEVEL.
package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	csvdatabase "stepback/csvimport/database"
	"stepback/csvimport/handlers"
	"stepback/outbox"
	"stepback/outbox/postgresstore"
	"stepback/outbox/sinks"
	"stepback/outbox/webhook"
	"stepback/retrypatterns"
)

func main() {
	h := handler{open: openRelay}
	lambda.Start(h.handle)
}

// margin is the time before the invocation's timeout at which the function stops starting new sends. grace is the
// time that running sends may then take.
const margin, grace = 10 * time.Second, 5 * time.Second

// relay is the part of an outbox relay that an invocation uses.
type relay interface {
	Drain(ctx context.Context) (outbox.Drained, error)
}

type handler struct {
	open func(ctx context.Context) (relay, error)

	mu    sync.Mutex
	relay relay // opened by the first invocation that succeeds
}

// answer reports what an invocation did.
type answer struct {
	Sent   int64 `json:"sent"`
	Failed int64 `json:"failed"`
	Dead   int64 `json:"dead"`
}

func (h *handler) handle(ctx context.Context) (answer, error) {
	r, err := h.get(ctx)
	if err != nil {
		return answer{}, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	done, err := r.Drain(ctx)
	return answer(done), err
}

func (h *handler) get(ctx context.Context) (relay, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.relay == nil {
		r, err := h.open(ctx)
		if err != nil {
			return nil, err
		}
		h.relay = r
	}
	return h.relay, nil
}

// openRelay opens the relay that the environment describes.
func openRelay(ctx context.Context) (relay, error) {
	var options sinks.Config
	for _, text := range strings.Fields(os.Getenv("WEBHOOK_SECRETS")) {
		secret, err := webhook.NewSecret(text)
		if err != nil {
			return nil, err
		}
		options.Secrets = append(options.Secrets, secret)
	}
	to := os.Getenv("SINK")
	if to == "" {
		return nil, errors.New(
			"SINK is not set; set it to https://host/path or the ARN of an SNS topic, an SQS queue or an EventBridge event bus",
		)
	}
	sink, err := sinks.Open(ctx, to, options)
	if err != nil {
		return nil, err
	}
	url, access, err := csvdatabase.Resolve(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	store, err := postgresstore.Open(ctx, url, access.Apply)
	if err != nil {
		return nil, err
	}
	return outbox.New(outbox.Config{
		Store: store, Sink: sink, Policy: retrypatterns.PolicyFor, Grace: grace, SendTimeout: grace,
		Log: handlers.Log(),
	})
}
