// Package differential compares the laboratory's mechanisms with the libraries that they follow: the retry quota with
// the token bucket of aws-sdk-go-v2, attempt by attempt through a whole run, and client-side throttling with
// failsafe-go's. It is a separate module, so that no other module depends on failsafe-go; run it with `make
// differential`.
package differential
