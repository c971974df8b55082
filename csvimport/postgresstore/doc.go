// Package postgresstore keeps the user counters in PostgreSQL, as on Aurora.
//
// Each record is a transaction of its own: claim the idempotency key, read the user and its version, add by UPDATE …
// WHERE version = what was read. A lost race is settled inside the same transaction by reading again under a row lock,
// so that a user who has thousands of rows in one file does not use up the retries of the state machine; only when that
// lock cannot be had within the connection's lock_timeout does the record fail, with OptimisticLockException.
//
// It never retries a transaction: an error has a name, and the state machine decides. When a connection breaks during
// COMMIT the outcome is unknown, and the idempotency key makes the repeat safe.
package postgresstore
