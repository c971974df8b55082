// Package dynamodb is the embedded DynamoDB of the laptop, with its streams: tables, secondary indexes, all operations
// on items, transactions, expressions, time to live. Package item has the values and their order, package expression
// the expressions; this package has the tables, keeps everything in a store of its own, and speaks AWS's words.
//
// What has been answered is on the disk: also a read, or a refused condition, waits for the disk if what it saw is
// still on its way there. Reads see each write at once, on tables and on all indexes, whether they ask for consistency
// or not. Time is that of a clock.Clock.
//
// It throttles nothing: capacities are kept, and counted in answers, and have no other effect. It makes no backups and
// no replicas, encrypts nothing and evaluates no policies.
package dynamodb
