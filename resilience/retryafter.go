package resilience

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseRetryAfter parses the value of an HTTP Retry-After header (RFC 9110, section 10.2.3). The value is a number of
// seconds without a fraction, or a date. A date is measured from date, the response's Date header, or from now if
// date is empty or unusable. The result is false for any other text. A date in the past is 0. A pause too long for a
// time.Duration is the longest Duration; the caller has to bound it.
func ParseRetryAfter(value, date string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0, false
	}
	if isDigits(value) {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(math.MaxInt64/time.Second) {
			return math.MaxInt64, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, ok := parseHTTPDate(value)
	if !ok {
		return 0, false
	}
	if sent, ok := parseHTTPDate(strings.TrimSpace(date)); ok {
		now = sent
	}
	return max(at.Sub(now), 0), true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// httpDates are the three date formats of RFC 9110, section 5.6.7; senders must use the first.
var httpDates = [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC}

func parseHTTPDate(s string) (time.Time, bool) {
	for _, form := range httpDates {
		if t, err := time.Parse(form, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
