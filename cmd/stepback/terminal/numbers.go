package terminal

import (
	"strconv"
	"strings"
	"time"

	"stepback/internal/spelling"
)

// Grouped formats a number with commas between thousands.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted returns a number with a noun, in the plural where needed: 1 item, 2,000 items, 2 retries.
func Counted[N int | int64](n N, noun string) string {
	return Grouped(int64(n)) + " " + spelling.Noun(n, noun)
}

// Duration writes a duration without needless zeros: 5m0s is 5m.
func Duration(d time.Duration) string {
	const century = 100 * 365 * 24 * time.Hour
	if d > century { // sums are capped at the longest representable duration
		return "over a century"
	}
	s := d.Round(time.Millisecond).String()
	if short, ok := strings.CutSuffix(s, "m0s"); ok {
		s = short + "m"
	}
	if short, ok := strings.CutSuffix(s, "h0m"); ok {
		s = short + "h"
	}
	return s
}
