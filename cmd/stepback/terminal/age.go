package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Age is a maximum age. Its text is a Go duration such as 2160h, or a number of days such as 90d.
type Age time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Age) UnmarshalText(text []byte) error {
	const day, most = 24 * time.Hour, 100_000
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > most {
			return fmt.Errorf("%s is not a number of days such as 90d", text)
		}
		*a = Age(time.Duration(n) * day)
		return nil
	}
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%s is neither a number of days nor a duration, such as 90d or 36h", text)
	}
	*a = Age(d)
	return nil
}

// MarshalText implements encoding.TextMarshaler, in a format that UnmarshalText reads.
func (a Age) MarshalText() ([]byte, error) { return []byte(time.Duration(a).String()), nil }
