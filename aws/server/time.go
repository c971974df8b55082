package server

import (
	"fmt"
	"time"
)

// Time is the document of a timestamp: seconds since 1970 with three decimals.
type Time time.Time

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	ms := time.Time(t).UnixMilli()
	return fmt.Appendf(nil, "%d.%03d", ms/1000, ms%1000), nil
}

// IsZero lets omitzero leave out times that are not there.
func (t Time) IsZero() bool { return time.Time(t).IsZero() }
