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
//
// No call waits without end for a server that does not respond. A connection attempt takes at most 5 s (connect_timeout
// of the connection string) and a statement or a batch 30 s at the client, or 10 s more than the connection string's
// statement_timeout; 0 is no limit. A statement of a migration may take ten minutes. [Store.Listen] waits for
// notifications until its context ends or TCP's keepalive finds that the connection is lost; relays look again when
// their poll interval is over. The limits are those of Open: a pool of the application's has its own.
package postgresstore
