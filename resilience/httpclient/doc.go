// Package httpclient is an http.RoundTripper that repeats requests by the retry table, so that any HTTP client, SDK or
// generated code uses it: http.Client{Transport: t}.
//
// A response with a status that says "not now" (408, 425, 429, 500, 502, 503, 504 …) is repeated by the transport's
// policy, not before its Retry-After has passed. An error of the connection is judged by what was sent: as long as no
// byte of the request was, it has not happened and any request may be repeated; afterwards its outcome is unknown, and
// only an idempotent request is (GET, HEAD, OPTIONS, TRACE, PUT, DELETE, and any that carries an Idempotency-Key, which
// the transport can make itself, once per call).
//
// When no attempt is left, the caller gets the last response as it came, with its body; an error only where there is no
// response. Bodies are sent again from GetBody, or from what was kept of them while they were sent first. Responses
// that are not handed out are drained within bounds, so that their connections can be used again.
//
// Each host has its own circuit breaker, bulkhead, budget and statistics. The package never follows redirects, never
// caches, and never reads a response that is handed out.
package httpclient
