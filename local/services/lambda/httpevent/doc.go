// Package httpevent converts HTTP requests to events in the payload format 2.0, which function URLs and HTTP APIs
// share, and converts what functions return to HTTP responses. It reads a request's body and writes to a
// ResponseWriter; it invokes nothing and knows no routes.
package httpevent
