// Package item is what DynamoDB keeps: attribute values of its ten types, items made of them, decimal numbers of 38
// digits, the sizes that limits and capacity count, the JSON of the API, and two binary forms: a compact one of whole
// items, and one of key attributes that sorts byte by byte as DynamoDB sorts keys.
//
// It is pure: no clock, no disk, no table. Values are immutable by agreement: who changes one makes a new one. Errors
// are of type Invalid and have DynamoDB's words.
package item
