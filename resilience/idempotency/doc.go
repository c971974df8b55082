// Package idempotency makes a request take effect once, however often it is sent. It implements the server's side of
// the Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header) and of any other key that a caller repeats.
//
// The first request under a key claims the key, runs, and stores its answer; later requests get that answer. While
// the first one runs, others wait or are asked to come back: a key is done only when its answer is stored, never
// before. A claim has a lease that is renewed while the request runs. If its process dies, the lease expires, and the
// next request under the key runs instead. A process that has lost its lease cannot store its answer, because each
// claim has its own token. A different request under a used key is refused.
//
// [Guard] does this for any function, [Guard.Middleware] for HTTP handlers. Claims and answers are kept in a [Store]:
// SQLite (sqlitestore), PostgreSQL (postgresstore) or DynamoDB (dynamostore), all tested by one suite (storetest).
//
// The package cannot make an effect and its record atomic: if a process dies between the two, another one takes over,
// and the effect may happen again. If the effect is in the same database, write both in one transaction (see package
// outbox).
package idempotency
