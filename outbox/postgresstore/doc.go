// Package postgresstore keeps an outbox in PostgreSQL, as on Aurora: tables beside the application's own, in the same
// database, so that a message is written in the application's transaction with [Write] (pgx) or [WriteSQL]
// (database/sql).
//
// Relays claim with FOR UPDATE SKIP LOCKED and are woken by LISTEN/NOTIFY: a trigger notifies for every statement
// that inserts, from whatever program. All times are the server's. Claims and settlements of messages with a key are
// made one at a time, under an advisory lock that only relays take; writers never wait for a relay, nor for each
// other.
//
// A message with a key that cannot be next is parked: it leaves the index that relays look at, so that a key which
// waits for a retry costs nothing however long its queue is, and comes back when the message before it is settled.
package postgresstore
