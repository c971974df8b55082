// Package item implements DynamoDB's data: attribute values of its ten types, items, decimal numbers of 38 digits,
// the sizes that count for limits and capacity, the API's JSON, and two binary forms: a compact one for whole items,
// and one for key attributes whose byte order is DynamoDB's order of keys.
//
// It is pure: no clock, no disk, no table. Values are immutable by convention; to change one, create a new one.
// Errors are of type Invalid and have DynamoDB's wording.
package item
