// Package partiql reads statements of PartiQL as DynamoDB takes them (SELECT, INSERT, UPDATE, DELETE, EXISTS), with
// parameters, and writes their parts as DynamoDB's own expressions, so that what evaluates those evaluates these.
//
// It is pure: it knows no table, no key and no disk. Its errors are of type item.Invalid and have DynamoDB's words.
package partiql
