package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	csvdatabase "stepback/csvimport/database"
	"stepback/local"
	"stepback/local/services/sns"
	"stepback/outbox"
	"stepback/outbox/database"
	"stepback/retrypatterns"
)

// eventsTopic is the topic to which an import's outbox is relayed. It carries notifications for programs, each
// message under its own ID. Notifications for people are sent by the state machine to the topic
// csv-import-notifications.
const eventsTopic = "csv-import-events"

// told is a message as the topic's subscribers receive it; they detect duplicates by its ID.
type told struct {
	ID        string          `json:"id"`
	Topic     string          `json:"topic"`
	Execution string          `json:"execution,omitempty"`
	Payload   json.RawMessage `json:"payload"`
}

// sinkOf returns a sink that publishes messages to a topic of the platform.
func sinkOf(platform *local.Platform, topic string) outbox.Sink {
	return outbox.SinkFunc(func(ctx context.Context, m *outbox.Message) error {
		text, err := json.Marshal(told{m.ID, m.Topic, m.Headers[outbox.HeaderExecution], m.Payload})
		if err != nil {
			return outbox.Invalid(err)
		}
		_, err = platform.Topics.Publish(ctx,
			sns.PublishInput{TopicARN: topic, Subject: m.Topic, Message: string(text)})
		return err
	})
}

// openRelay opens a relay from the outbox in an import's database to the platform's topic. takeOver declares that no
// other relay of this directory is running; see outbox.Config.
func openRelay(ctx context.Context, platform *local.Platform, address string, takeOver bool) (*outbox.Relay, func() error, error) {
	//nolint:contextcheck // it waits for the disk only
	topic, err := platform.Topics.CreateTopic(platform.Scope, eventsTopic)
	if err != nil {
		return nil, nil, err
	}
	store, err := database.Open(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	relay, err := outbox.New(outbox.Config{
		Store: store, Sink: sinkOf(platform, topic), Policy: retrypatterns.PolicyFor, Linger: -1,
		Name: relayName(platform.Dir), TakeOver: takeOver,
	})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return relay, store.Close, nil
}

// relayName returns the name of the relay of a data directory, which only one process has open.
func relayName(dir string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return fmt.Sprintf("import at %.60s, directory %.8x", host, sha256.Sum256([]byte(dir)))
}

// drain sends the due messages in the outbox of an import's database. See openRelay for takeOver.
func drain(ctx context.Context, platform *local.Platform, address string, takeOver bool) error {
	if path, _, ok := csvdatabase.SQLitePath(address); ok {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			return nil //nolint:nilerr // no import has written yet; the first one gives the pages checksums
		}
	}
	relay, closeStore, err := openRelay(ctx, platform, address, takeOver)
	if err != nil {
		return err
	}
	_, err = relay.Drain(ctx)
	return errors.Join(err, closeStore())
}

// relay sends the messages of imports. A message that cannot be sent now is sent by the next import or by serve; no
// import fails because of it.
func (p *Pipeline) relay(ctx context.Context, takeOver bool) {
	if err := drain(ctx, p.platform, p.cfg.Database, takeOver); err != nil {
		p.cfg.Log.Warn("notifications of imports were not sent; the next import sends them", "error", err.Error())
	}
}

// relayEvery is the interval at which Relay checks the outbox.
const relayEvery = 2 * time.Second

// Relay sends the messages of a platform's imports until the context ends. If the import has been deployed, Relay
// checks the database of the function csv-aggregate every two seconds.
func Relay(ctx context.Context, platform *local.Platform, log *slog.Logger) {
	tick := time.NewTicker(relayEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		f, err := platform.Functions.Get(platform.Scope, aggregateFunction, "")
		if err == nil && f.Configuration.Environment != nil {
			err := drain(ctx, platform, inDirectory(f.Configuration.Environment.Variables,
				platform.Dir)[databaseVariable], first)
			if err != nil && ctx.Err() == nil {
				log.Warn("notifications of imports cannot be sent yet", "error", err.Error())
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
