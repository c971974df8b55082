// Package differential compares what the laboratory drives with the libraries it follows: the retry quota with the
// token bucket of aws-sdk-go-v2, attempt for attempt through a whole run, and client-side throttling with
// failsafe-go's. It is a module of its own, so that nobody else depends on failsafe-go; run it with `make
// differential`.
package differential
