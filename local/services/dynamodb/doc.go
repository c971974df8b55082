// Package dynamodb implements an embedded DynamoDB with streams: tables, secondary indexes, all operations on
// items, transactions, expressions, time to live. Package item implements values and their order. Package
// expression implements expressions. This package implements the tables, stores everything in a separate store, and
// uses AWS's error messages.
//
// Everything is on disk before a request is answered. Even a read or a failed condition waits for the disk if it
// saw changes that are not on disk yet. Reads see each write immediately, on tables and on all indexes, whether
// they are consistent reads or not. A clock.Clock provides the time.
//
// Nothing is throttled: capacities are stored and counted in responses, but have no other effect. There are no
// backups, replicas, encryption or policies.
package dynamodb
