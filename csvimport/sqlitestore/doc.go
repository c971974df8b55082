// Package sqlitestore keeps the user counters in an SQLite database, the embedded default.
//
// One goroutine, which Close waits for, writes: it takes every increment that is waiting, applies them in one
// transaction (group commit), and answers each of them after the transaction is on disk. A record that cannot be
// applied does not disturb the others of its group.
//
// Several processes may use one database file: every transaction takes the write lock at its beginning and waits for it
// up to five seconds.
package sqlitestore
