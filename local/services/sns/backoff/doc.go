// Package backoff computes when a delivery that failed is tried again, by the delivery policies of SNS: retries at
// once, then at the smallest delay, then at delays that grow, then at the largest one.
//
// It is pure: it reads no clock, and it does not know what is delivered.
package backoff
