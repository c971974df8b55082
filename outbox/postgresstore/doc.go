// Package postgresstore implements an outbox in PostgreSQL, such as Aurora: its tables are beside the application's
// own, in the same database, so that a message is written in the application's transaction with [Write] (pgx) or
// [WriteSQL] (database/sql).
//
// Relays claim with FOR UPDATE SKIP LOCKED and are woken by LISTEN/NOTIFY: a trigger notifies for every statement
// that inserts, from any program. All times are the server's. Claims and settlements of messages with a key run one
// at a time, under an advisory lock that only relays take; writers never wait for a relay, nor for each other.
//
// A message with a key that cannot be next is parked: it leaves the index that relays search, so that a key waiting
// for a retry costs nothing however long its queue is. The message returns to the index when the message before it is
// settled.
package postgresstore
