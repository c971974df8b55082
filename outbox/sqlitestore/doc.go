// Package sqlitestore implements an outbox in an SQLite database: its tables are beside the application's own, in the
// same file, so that a message is written in the application's transaction with [Write].
//
// Several processes, including relays, may use one file: each claim takes the write lock and marks the claimed
// messages with a lease. A relay notices commits of others by checking the file's version a hundred times a second;
// an application in the relay's own process can call [Store.Wake] after its commit.
//
// The store does not sync each of its own writes to the disk (synchronous=NORMAL): after a power failure the messages
// sent last may be sent again, under the same ID. The application's commits are as durable as its own connection
// makes them.
//
// A message with a key that cannot be next is parked: it leaves the index that relays search until the message before
// it is settled.
package sqlitestore
