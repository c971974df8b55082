package terminal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ByteCount is a number of bytes. Its text is a plain number, or one with a unit such as 500k, 200MB or 2GiB. As at
// AWS and in the standard, k, M and G are powers of 1,000, and Ki, Mi and Gi are powers of 1,024. A B may follow.
type ByteCount int64

// byteUnits lists the units of byte counts, the longest first.
var byteUnits = []struct {
	name  string
	bytes int64
}{{"ki", 1 << 10}, {"mi", 1 << 20}, {"gi", 1 << 30}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"", 1}}

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *ByteCount) UnmarshalText(text []byte) error {
	lower := strings.ToLower(string(text))
	if lower != "b" {
		lower = strings.TrimSuffix(lower, "b")
	}
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(lower, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*c = ByteCount(n * u.bytes)
		return nil
	}
	return fmt.Errorf("%s is not a number of bytes such as 104857600, 200MB or 2GiB", text)
}

// MarshalText implements encoding.TextMarshaler, in a format that UnmarshalText reads.
func (c ByteCount) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(c), 10), nil }
