package terminal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Count is a number that may be written with an exponent, such as 1e9.
type Count int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Count) UnmarshalText(text []byte) error {
	plain := strings.ReplaceAll(string(text), "_", "")
	if n, err := strconv.ParseInt(plain, 10, 64); err == nil {
		*c = Count(n)
		return nil
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return fmt.Errorf("%s is not a whole number such as 1000000 or 1e9", text)
	}
	*c = Count(f)
	return nil
}

// MarshalText implements encoding.TextMarshaler, in a format that UnmarshalText reads.
func (c Count) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(c), 10), nil }
