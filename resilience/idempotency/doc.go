// Package idempotency has a request take effect once, however often it is sent: the server's side of the
// Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header) and of any other key that a caller repeats.
//
// The first request under a key claims it, runs, and stores its answer; later ones get that answer. While the first one
// runs, others wait or are told to come back: a key is done only when its answer is stored, never before. A claim has a
// lease that is renewed while the request runs; when its process has died the lease ends, and the next request under
// the key runs in its place. A process that lost its lease all the same cannot store its answer: each claim has a token
// of its own. Another request under a used key is refused.
//
// [Guard] does this for any function, [Guard.Middleware] for HTTP handlers. What is remembered is in a [Store]: SQLite
// (sqlitestore), PostgreSQL (postgresstore) or DynamoDB (dynamostore), all held to one suite (storetest).
//
// The package cannot make an effect and its record one: a process that dies between the two is taken over, and the
// effect may happen again. Where the effect is in the same database, write the two in one transaction (see package
// outbox).
package idempotency
