// Package sqlitestore keeps an outbox in an SQLite database: tables beside the application's own, in the same file,
// so that a message is written in the application's transaction with [Write].
//
// Several processes may use one file, relays among them: each claim takes the write lock and marks what it takes with
// a lease. A relay notices what others commit by looking at the file's version a hundred times a second; an
// application in the relay's own process can call [Store.Wake] after its commit.
//
// The store's own writes are not synced to the disk one by one (synchronous=NORMAL): after a loss of power what was
// sent last may be sent again, under the same ID. What the application commits is as durable as its own connection
// makes it.
//
// A message with a key that cannot be next is parked: it leaves the index that relays look at until the message
// before it is settled.
package sqlitestore
