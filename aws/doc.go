// Package aws is the vocabulary of AWS that the whole project shares: the account and region of a request (Scope),
// partitions and ARNs, the error of an API (Error), the pages of a list (Page), request IDs and other UUIDs (ids.go).
//
// It is pure: it imports nothing of the project, calls no network and reads no file. How AWS's APIs are called and
// served is in the packages below it.
package aws
