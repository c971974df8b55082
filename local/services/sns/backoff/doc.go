// Package backoff computes the times at which failed deliveries are retried, following SNS delivery policies: first
// immediate retries, then retries at the minimum delay, then at growing delays, then at the maximum delay.
//
// It is pure: it reads no clock and does not know what is delivered.
package backoff
