// Package sqlitestore stores the user counters in an SQLite database, the embedded default.
//
// A single goroutine writes; Close waits for it. It takes all waiting increments, applies them in one transaction
// (group commit), and answers each of them once the transaction is on disk. A record that cannot be applied does
// not affect the others of its group.
//
// Several processes may use the same database file: every transaction takes the write lock at its start, and waits
// up to five seconds for it.
package sqlitestore
