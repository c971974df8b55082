// Package dynamostore keeps shared breakers and limiters in a DynamoDB table: one item per callee, its key the
// attribute "callee". Counters are added without a condition, so that no two processes are in each other's way; the
// record is replaced under the condition that its version is still the one it was made of. Items expire by the
// table's TTL attribute "ttl" a day after the last call.
//
// It makes no table; [Table] is what CreateTable wants.
package dynamostore
