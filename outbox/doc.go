// Package outbox delivers messages that must not be lost. A program writes a message in the same transaction as the
// change it reports (sqlitestore.Write, postgresstore.Write), so the message exists exactly if the transaction
// commits. A [Relay], in the same process or another, takes messages from the table in batches and passes each to a
// [Sink].
//
// Guarantees:
//
//   - Every committed message is sent at least once, or becomes a dead letter that a person can inspect, fix and
//     redrive. If a receiver sees a message more than once, it has the same ID each time.
//   - Messages with the same Key are sent one after the other in the order in which they were written. A message that
//     waits for a retry holds up the other messages of its key and no others. A dead letter no longer holds up its key.
//   - A message that cannot be sent never blocks messages with other keys or none.
//
// [Config.Policy] determines the delays, depending on how the sink's error is classified
// ([stepback/retry.Classify]).
//
// The package never opens a database or a connection: stores and sinks are in separate packages, so that a program
// links only what it uses. It never deletes a message that was neither sent nor discarded.
package outbox
