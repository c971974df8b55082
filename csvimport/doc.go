// Package csvimport is the domain of the CSV system: what a file of user activity is, what one of its records means,
// and what may happen to it.
//
// It holds the value kinds every step shares (Source, Record, Increment, Outcome, Failure), the two interfaces the
// steps stand on (Store for the database, Objects for S3) and the rules by which a record is read. The steps themselves
// are packages of their own: validate, process and aggregate.
//
// It never opens a connection, reads a file or knows a driver: adapters are in sqlitestore, postgresstore and
// s3objects.
package csvimport
