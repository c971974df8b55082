// Package dynamostore stores shared breakers and limiters in a DynamoDB table: one item per callee, whose key is the
// attribute "callee". Counters are added without a condition, so processes do not block each other; the record is
// replaced on the condition that its version is still the one it was derived from. Items expire by the table's TTL
// attribute "ttl" a day after the last call.
//
// The package creates no table; [Table] returns the input for CreateTable.
package dynamostore
