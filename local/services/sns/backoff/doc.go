// Package backoff computes when a failed delivery is retried, following SNS delivery policies: immediate retries,
// then retries at the minimum delay, then at growing delays, then at the maximum delay.
//
// It is pure: it reads no clock and does not know what is delivered.
package backoff
