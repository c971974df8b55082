// Package postgresstore implements an outbox in PostgreSQL, such as Aurora. Its tables are in the application's own
// database, so a message can be written in the application's transaction with [Write] (pgx) or [WriteSQL]
// (database/sql).
//
// Relays claim with FOR UPDATE SKIP LOCKED and are woken by LISTEN/NOTIFY: a trigger notifies for every statement
// that inserts, from any program. All times are the server's. Claims and settlements of messages with a key run one
// at a time, under an advisory lock that only relays take. Writers never wait for a relay, nor for each other.
//
// A message with a key that cannot be sent next is parked: it leaves the index that relays search. So a key that
// waits for a retry costs nothing, however long its queue is. The message returns to the index when the message
// before it is settled.
//
// No call waits without end for a server that does not respond. A connection attempt takes at most 5 s
// (connect_timeout of the connection string). A statement or a batch takes at most 30 s at the client, or 10 s more
// than the connection string's statement_timeout; 0 means no limit. A statement of a migration may take ten
// minutes. [Store.Listen] waits for notifications until its context ends or TCP's keepalive finds that the
// connection is lost; relays look for messages again when their poll interval is over. These are the limits of
// connections opened by Open; an application's own pool has its own limits.
package postgresstore
