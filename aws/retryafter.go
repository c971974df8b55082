package aws

import (
	"math"
	"strconv"
	"time"
)

// RetryAfterHeader is the response header by which a service asks for a pause before the next attempt, in milliseconds.
// The AWS SDKs honour it since November 2026.
const RetryAfterHeader = "X-Amz-Retry-After"

// ParseRetryAfter parses the value of [RetryAfterHeader]. It returns 0 for anything but a whole number of milliseconds
// from 0. A pause too long for a time.Duration yields the longest Duration; the caller has to limit it.
func ParseRetryAfter(value string) time.Duration {
	ms, err := strconv.ParseUint(value, 10, 64)
	switch {
	case err != nil && ms != math.MaxUint64: // MaxUint64 means out of range
		return 0
	case ms > uint64(math.MaxInt64/time.Millisecond):
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}
