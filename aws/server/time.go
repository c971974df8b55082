package server

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Time is the document of a timestamp: seconds since 1970 with three decimals.
type Time time.Time

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	ms := time.Time(t).UnixMilli()
	return fmt.Appendf(nil, "%d.%03d", ms/1000, ms%1000), nil
}

// UnmarshalJSON implements json.Unmarshaler, for services that store their answers. The time is in UTC.
func (t *Time) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	*t = Time(time.UnixMilli(int64(math.Round(seconds * 1000))).UTC())
	return nil
}

// IsZero makes omitzero omit zero times.
func (t Time) IsZero() bool { return time.Time(t).IsZero() }
