package aggregate

import (
	"context"
	"encoding/json"

	"stepback/csvimport"
	"stepback/outbox"
)

// The topics of the messages that report an import.
const (
	TopicFinished = "csv-import.finished"     // all rows are settled, and the failures are within the tolerance
	TopicFailed   = "csv-import.failed"       // all rows are settled, but too many or the Map itself failed
	TopicLetters  = "csv-import.dead-letters" // some rows were rejected or dead-lettered and need attention
)

// conclude writes the import's messages to the outbox in the transaction that concludes the import, so that they
// are sent once even if this step is repeated. It must be called last, so that receivers of a message find the
// summary.
func (a *Aggregator) conclude(ctx context.Context, in Input, out Output) error {
	store, ok := a.Store.(csvimport.Concluder)
	if !ok {
		return nil
	}
	payload, err := json.Marshal(out)
	if err != nil {
		return err
	}
	run := csvimport.Run{File: in.Source, Name: in.Run}
	message := func(topic string) outbox.Message {
		return outbox.Message{ID: csvimport.MessageID(run, topic), Topic: topic, Key: in.Execution, Payload: payload,
			Headers: map[string]string{outbox.HeaderExecution: in.Execution}}
	}
	topic := TopicFailed
	if out.WithinTolerance {
		topic = TopicFinished
	}
	messages := []outbox.Message{message(topic)}
	if out.Rejected+out.DeadLettered > 0 {
		messages = append(messages, message(TopicLetters))
	}
	return store.Conclude(ctx, run, csvimport.Conclusion{Applied: out.Applied, AlreadyApplied: out.AlreadyApplied,
		Rejected: out.Rejected, DeadLettered: out.DeadLettered}, messages)
}
