// Package differential compares the laboratory's mechanisms with the libraries that they follow: the retries of AWS SDKs
// with the retryer of aws-sdk-go-v2, decision by decision and wait by wait, and client-side throttling with failsafe-go's.
// It is a separate module, so that no other module depends on failsafe-go, with another one below it for the SDK before
// November 2026; run both with `make differential`.
package differential
