// Package csvimport is the domain of the CSV import: files of user activity, the meaning of their records, and the
// operations on them.
//
// It defines the types that all steps share (Source, Record, Increment, Outcome, Failure), the two interfaces that
// the steps use (Store for the database, Objects for S3) and the rules for parsing a record. The steps themselves are
// separate packages: validate, process and aggregate.
//
// It never opens a connection, reads a file or knows a driver: adapters are in sqlitestore, postgresstore and
// s3objects.
package csvimport
