// Package sqlitestore remembers idempotency keys in an SQLite database.
//
// One goroutine, which Close waits for, writes: it does everything that is waiting in one transaction (group commit)
// and answers after the transaction is on disk. Several processes may use one file: every transaction takes the write
// lock at its beginning and waits for it up to five seconds.
package sqlitestore
