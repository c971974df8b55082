// Package postgresstore stores the user counters in PostgreSQL, as on Aurora.
//
// Each record is a separate transaction. It claims the idempotency key, reads the user and its version, and adds by
// an UPDATE whose WHERE clause requires the version it read. If another transaction has changed the user, it reads
// the user again under a row lock, inside the same transaction, so that a user with thousands of rows in one file
// does not use up the state machine's retries. The record fails, with OptimisticLockException, only if that lock is
// not granted within the connection's lock_timeout.
//
// The package never retries a transaction: errors have names, and the state machine decides. If a connection breaks
// during COMMIT, the outcome is unknown, and the idempotency key makes repeating it safe.
//
// No call waits forever for a server that does not respond. A connection attempt takes at most 5 s (connect_timeout
// of the connection string), the wait for a row lock 5 s (lock_timeout) and a statement 20 s (statement_timeout).
// If the server does not end the statement by itself, the client gives up 10 s later, with TimeoutError. With
// statement_timeout=0 the client has no limit either. [Store.Export] is bounded by its context alone.
package postgresstore
