package spelling

import (
	"strconv"
	"strings"
)

// Noun returns a noun in the singular if n is 1, and in the plural otherwise: item, items; retry, retries.
func Noun[N ~int | ~int64 | ~uint64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		return stem + "ries"
	}
	return noun + "s"
}

// Counted returns a number, without separators, with a noun: 1 item, 2 items.
func Counted[N ~int | ~int64 | ~uint64](n N, noun string) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10) + " " + Noun(n, noun)
	}
	return strconv.FormatUint(uint64(n), 10) + " " + Noun(n, noun)
}
