// Package sinks opens the sink at an address, for programs that get the address from their command line or
// environment. It links the clients of all sinks; a program that knows its sink creates it directly.
package sinks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws/client"
	"stepback/outbox"
	"stepback/outbox/eventbridgesink"
	"stepback/outbox/snssink"
	"stepback/outbox/sqssink"
	"stepback/outbox/webhook"
)

// Config contains the settings that are not part of an address.
type Config struct {
	Secrets  []webhook.Secret // for a webhook's signatures
	Header   http.Header      // for a webhook's requests
	Endpoint string           // AWS endpoint; empty means AWS itself
	Source   string           // source of EventBridge events; empty means "stepback"
	Out      io.Writer        // for the address "-"
}

// Open opens the sink at one of these addresses:
//
//   - https://host/path: a webhook;
//   - the ARN of an SNS topic, an SQS queue or an EventBridge event bus;
//   - -: one line of JSON per message, to Config.Out.
func Open(ctx context.Context, address string, o Config) (outbox.Sink, error) {
	switch {
	case address == "-" && o.Out == nil:
		return nil, errors.New("the sink - needs Config.Out, the writer for its lines of JSON")
	case address == "-":
		return &lines{out: o.Out}, nil
	case strings.HasPrefix(address, "http://"), strings.HasPrefix(address, "https://"):
		return webhook.New(webhook.Config{URL: address, Secrets: o.Secrets, Header: o.Header})
	case arn.IsARN(address):
		return openARN(ctx, address, o)
	}
	return nil, fmt.Errorf(
		"the sink %q is not valid; write https://host/path, the ARN of an SNS topic, an SQS queue or an "+
			"EventBridge event bus, or - for lines of JSON",
		address,
	)
}

func openARN(ctx context.Context, address string, o Config) (outbox.Sink, error) {
	a, err := arn.Parse(address)
	if err != nil {
		return nil, err
	}
	options := []func(*config.LoadOptions) error{config.WithRegion(a.Region)}
	if o.Endpoint != "" {
		options = append(options, config.WithBaseEndpoint(o.Endpoint))
		if u, err := url.Parse(o.Endpoint); err == nil && onThisMachine(u.Hostname()) {
			// A custom endpoint must not get the credentials of a real account.
			options = append(options,
				config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("test", "test", "")))
		}
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("the AWS configuration for %s cannot be read: %w", address, err)
	}
	switch {
	case a.Service == "sns":
		return named(ctx, cfg, "sns", func(c *client.Named) (outbox.Sink, error) { return snssink.New(c.Once(), address), nil })
	case a.Service == "sqs":
		return named(ctx, cfg, "sqs", func(c *client.Named) (outbox.Sink, error) {
			var queue struct {
				URL string `json:"QueueUrl"`
			}
			in := map[string]string{"QueueName": a.Resource, "QueueOwnerAWSAccountId": a.AccountID}
			if err := c.Call(ctx, "GetQueueUrl", in, &queue); err != nil {
				return nil, fmt.Errorf("the queue %s cannot be found: %w", address, err)
			}
			return sqssink.New(c.Once(), queue.URL), nil
		})
	case a.Service == "events" && strings.HasPrefix(a.Resource, "event-bus/"):
		source := o.Source
		if source == "" {
			source = "stepback"
		}
		return named(ctx, cfg, "eventbridge", func(c *client.Named) (outbox.Sink, error) {
			return eventbridgesink.New(c.Once(), address, source), nil
		})
	}
	return nil, fmt.Errorf(
		"messages cannot be sent to %s: write the ARN of an SNS topic, an SQS queue or an EventBridge event bus",
		address)
}

// named returns a sink that uses a client for a service.
func named(
	ctx context.Context, cfg aws.Config, service string, sink func(*client.Named) (outbox.Sink, error),
) (outbox.Sink, error) {
	c, err := client.NewNamed(ctx, cfg, service)
	if err != nil {
		return nil, err
	}
	return sink(c)
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// lines writes messages to a file or a terminal.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

// Send implements outbox.Sink.
func (l *lines) Send(_ context.Context, m *outbox.Message) error {
	line, err := json.Marshal(struct {
		ID          string            `json:"id"`
		Topic       string            `json:"topic"`
		Key         string            `json:"key,omitempty"`
		ContentType string            `json:"contentType"`
		Headers     map[string]string `json:"headers,omitempty"`
		Payload     any               `json:"payload"`
	}{m.ID, m.Topic, m.Key, m.ContentType, m.Headers, payload(m)})
	if err != nil {
		return outbox.Invalid(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(line, '\n'))
	return err
}

// payload returns the payload as JSON if it is JSON, and otherwise as bytes, which are encoded in base64.
func payload(m *outbox.Message) any {
	if json.Valid(m.Payload) {
		return json.RawMessage(m.Payload)
	}
	return m.Payload
}
