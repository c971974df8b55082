// Package expression reads and evaluates the expressions of DynamoDB: conditions and filters, key conditions, updates
// and projections, with placeholders of names and values, and the conditions that clients gave before there were
// expressions.
//
// It is pure: it works on items and knows no table, no key schema and no disk. Its errors are of type item.Invalid and
// have DynamoDB's words; of several mistakes in an expression it tells the one that DynamoDB tells.
package expression
