// Package httpclient provides an http.RoundTripper that repeats requests by the retry table. Any HTTP client, SDK or
// generated code can use it: http.Client{Transport: t}.
//
// A response with a status that says "not now" (408, 425, 429, 500, 502, 503, 504 …) is repeated by the transport's
// policy, but not before its Retry-After, or AWS's x-amz-retry-after, has passed. A connection error is judged by how
// much was sent: if no byte of the request was, the request has not taken effect, and any request may be repeated.
// Otherwise its outcome is unknown, and only an idempotent request is repeated (GET, HEAD, OPTIONS, TRACE, PUT, DELETE,
// and any that carries an Idempotency-Key, which the transport can generate, once per call).
//
// When no attempt is left, the caller gets the last response unchanged, with its body, or an error if there is no
// response. Bodies are sent again from GetBody, or from a copy that was kept while they were first sent. Responses
// that are not returned are drained within bounds, so that their connections can be reused.
//
// Each host has its own circuit breaker, bulkhead, budget and statistics. The package never follows redirects, never
// caches, and never reads a response that it returns.
package httpclient
