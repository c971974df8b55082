// Package dynamodb implements an embedded DynamoDB with streams: tables, secondary indexes, all operations on items,
// transactions, expressions, time to live. Package item implements values and their order, package expression the
// expressions; this package implements the tables, stores everything in a separate store, and uses AWS's error
// messages.
//
// Everything is on disk before a request is answered: even a read or a failed condition waits for the disk if what it
// saw is not on it yet. Reads see each write immediately, on tables and on all indexes, whether they are consistent
// reads or not. The time is that of a clock.Clock.
//
// Nothing is throttled: capacities are stored and counted in responses, but have no other effect. There are no
// backups, replicas, encryption or policies.
package dynamodb
