package server

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Time is the document of a timestamp: seconds since 1970 with three decimals.
type Time time.Time

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	const usual = len("1700000000.000")
	ms := time.Time(t).UnixMilli()
	return strconv.AppendFloat(make([]byte, 0, usual), float64(ms)/1e3, 'f', 3, 64), nil
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
