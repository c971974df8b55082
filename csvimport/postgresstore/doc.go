// Package postgresstore stores the user counters in PostgreSQL, as on Aurora.
//
// Each record is a separate transaction: claim the idempotency key, read the user and its version, add by UPDATE …
// WHERE version = the one read. A lost race is resolved inside the same transaction by reading again under a row
// lock, so that a user with thousands of rows in one file does not use up the state machine's retries. The record
// fails, with OptimisticLockException, only if that lock is not granted within the connection's lock_timeout.
//
// The package never retries a transaction: errors have names, and the state machine decides. If a connection breaks
// during COMMIT the outcome is unknown, and the idempotency key makes repeating it safe.
//
// No call waits without end for a server that does not respond. A connection attempt takes at most 5 s (connect_timeout
// of the connection string), the wait for a row lock 5 s (lock_timeout) and a statement 20 s (statement_timeout); if the
// server does not end the statement by itself, the client gives up 10 s later, with TimeoutError. With
// statement_timeout=0 the client has no limit either. [Store.Export] is bounded by its context alone.
package postgresstore
