package letters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/outbox"
	"stepback/outbox/monitor"
	"stepback/outbox/sinks"
	"stepback/outbox/webhook"
	"stepback/retrypatterns"
)

// webhookSecrets is the environment variable with the secrets for webhook signatures, separated by spaces. It is not
// a flag because every user of the machine can read a command line.
const webhookSecrets = "STEPBACK_WEBHOOK_SECRETS"

// Relay implements the verb relay.
type Relay struct {
	DB          string        `required:"" name:"db" env:"DATABASE_URL" placeholder:"URL" help:"Database with the outbox: sqlite:/path/file.db or postgres://…"`
	To          string        `required:"" placeholder:"SINK" help:"https://host/path, the ARN of an SNS topic, SQS queue or EventBridge event bus, or - for lines of JSON."`
	Once        bool          `help:"Stop when no message is due."`
	Listen      string        `placeholder:"HOST:PORT" help:"Serve /metrics and /healthz here, such as 127.0.0.1:9464."`
	Concurrency int           `default:"16" help:"Maximum number of concurrent sends. Default 16."`
	MaxRetries  int           `default:"15" help:"Retries before a message becomes a dead letter; -1 uses the retry table's numbers. Default 15."`
	Timeout     time.Duration `default:"30s" help:"Timeout of one send. Default 30s."`
	Retention   time.Duration `default:"24h" help:"How long sent messages are kept; a negative value keeps them forever. Default 24h."`
	Endpoint    string        `placeholder:"URL" help:"Endpoint to use instead of AWS."`
	Source      string        `default:"stepback" help:"Source field of EventBridge events. Default stepback."`
}

// Help shows examples.
func (Relay) Help() string {
	return `Sends the messages that an application writes to its outbox, until Ctrl-C. A message that cannot be sent becomes a dead letter:
see stepback deadletters.

Examples:
  stepback relay --db sqlite:app.db --to -
  stepback relay --db postgres://app@db/app --to https://hooks.example.com/orders --listen 127.0.0.1:9464
  stepback relay --db postgres://app@db/app --to arn:aws:sns:us-east-1:123456789012:orders --once

Requests to a webhook are signed where ` + webhookSecrets + ` holds one secret or more, separated by spaces.`
}

// Run relays the outbox's messages.
func (c *Relay) Run(ctx context.Context, std terminal.Streams) (err error) {
	options := sinks.Config{Endpoint: c.Endpoint, Source: c.Source, Out: std.Out}
	for _, text := range strings.Fields(os.Getenv(webhookSecrets)) {
		secret, err := webhook.NewSecret(text)
		if err != nil {
			return fmt.Errorf("%s: %w", webhookSecrets, err)
		}
		options.Secrets = append(options.Secrets, secret)
	}
	sink, err := sinks.Open(ctx, c.To, options)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	store, err := workspace.OpenOutbox(ctx, c.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	m := monitor.New(store)
	relay, err := outbox.New(outbox.Config{
		Store: store, Sink: sink, Policy: retrypatterns.PolicyFor, Concurrency: c.Concurrency,
		MaxRetries: c.MaxRetries, SendTimeout: c.Timeout, Retention: c.Retention,
		Log: slog.New(slog.NewTextHandler(std.Err, nil)), Observe: m.Observe,
	})
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if c.Listen != "" {
		stop, err := serveMonitor(ctx, c.Listen, m.Handler(relay, time.Minute), std)
		if err != nil {
			return err
		}
		defer stop()
	}
	if !c.Once {
		return relay.Run(ctx)
	}
	done, err := relay.Drain(ctx)
	fmt.Fprintf(std.Err, "%d sent, %d failed and will be tried again, %d dead\n", done.Sent, done.Failed, done.Dead)
	return err
}

// serveMonitor serves handler until stop is called; stop waits until the server has ended.
func serveMonitor(ctx context.Context, address string, handler http.Handler, std terminal.Streams) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // returns once the server is closed
	}()
	fmt.Fprintf(std.Err, "metrics at http://%s/metrics\n", listener.Addr())
	return func() {
		_ = server.Close() // the last scrape need not be waited for
		<-done
	}, nil
}
