// Package partiql parses DynamoDB's PartiQL statements (SELECT, INSERT, UPDATE, DELETE, EXISTS) with parameters, and
// converts their parts to DynamoDB's own expressions, which are then evaluated by the same code.
//
// It is pure: it does not know tables, keys or disks. Its errors are of type item.Invalid and have DynamoDB's
// wording.
package partiql
