package resilience

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseRetryAfter parses the value of an HTTP Retry-After header (RFC 9110, section 10.2.3). The value is an
// integral number of seconds, or a date. A date is compared with date, the response's Date header, or with now if
// date is empty or unusable. For any other text, it returns false. A date in the past yields 0. A pause too long
// for a time.Duration yields the longest Duration; the caller has to limit it.
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
