package aggregate

import (
	"context"
	"encoding/json"

	"stepback/csvimport"
	"stepback/outbox"
)

// The topics of what an import tells.
const (
	TopicFinished = "csv-import.finished"     // all rows are settled, and no more failed than is tolerated
	TopicFailed   = "csv-import.failed"       // all rows are settled, and too many failed, or the Map did
	TopicLetters  = "csv-import.dead-letters" // some rows were rejected or dead-lettered: a person is needed
)

// tell writes what the import came to into the outbox, in the transaction that concludes it, so that it is told once
// however often this step is repeated. It is done last: who hears of the summary finds it.
func (a *Aggregator) tell(ctx context.Context, in Input, out Output) error {
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
