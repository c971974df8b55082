package schedule

import (
	"fmt"
	"time"
)

// once is a schedule with a single time.
type once struct{ at time.Time }

// parseOnce parses the argument of at(…): a date and a time of day.
func parseOnce(text string, zone *time.Location) (Schedule, error) {
	t, err := time.ParseInLocation("2006-01-02T15:04:05", text, zone)
	if err != nil {
		return nil, fmt.Errorf("at(%s) has to be a time such as at(2026-11-22T08:00:00)", text)
	}
	return once{t}, nil
}

// Next implements Schedule.
func (o once) Next(after, _ time.Time) (time.Time, bool) { return o.at, o.at.After(after) }
