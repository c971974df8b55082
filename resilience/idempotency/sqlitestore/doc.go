// Package sqlitestore keeps idempotency keys in an SQLite database.
//
// A single goroutine writes; Close waits for it. It executes all waiting calls in one transaction (group commit) and
// answers them when the transaction is on disk. Several processes may use one file: every transaction takes the write
// lock at its start and waits for it for up to five seconds.
package sqlitestore
