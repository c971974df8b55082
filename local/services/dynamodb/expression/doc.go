// Package expression parses and evaluates DynamoDB's expressions: conditions and filters, key conditions, updates
// and projections, with placeholders for names and values. It also parses the conditional parameters that preceded
// expressions.
//
// It is pure: it works on items and does not know tables, key schemas or disks. Its errors are of type item.Invalid
// and have DynamoDB's wording; for an expression with several errors it reports the one that DynamoDB reports.
package expression
