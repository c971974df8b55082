// Package aws contains the AWS vocabulary that the whole project shares: the account and region of a request
// (Scope), partitions and ARNs, API errors (Error), the pages of a list (Page), request IDs and other UUIDs
// (ids.go).
//
// It is pure: it imports nothing of the project, makes no network calls and reads no files. The packages below it
// implement calling and serving AWS's APIs.
package aws
