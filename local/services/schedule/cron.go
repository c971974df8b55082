package schedule

import (
	"fmt"
	"strings"
	"time"
)

// The years that cron expressions may contain.
const firstYear, lastYear = 1970, 2199

// cron is a cron schedule: times of day on certain days.
type cron struct {
	minutes, hours, months set
	years                  [lastYear - firstYear + 1]bool
	days                   days
	zone                   *time.Location
}

// set is a bit set of small numbers.
type set uint64

func (s set) has(n int) bool { return s>>n&1 != 0 }

func parseCron(text string, zone *time.Location) (Schedule, error) {
	fields := strings.Fields(strings.ToUpper(text))
	if len(fields) != 6 {
		return nil, fmt.Errorf("cron(%s) has %d fields; they are minutes, hours, day of month, month, day of week, year",
			text, len(fields))
	}
	c := &cron{zone: zone}
	years := func(n int) { c.years[n-firstYear] = true }
	for _, err := range []error{
		span{"minutes", 0, 59, nil}.read(fields[0], c.minutes.add()),
		span{"hours", 0, 23, nil}.read(fields[1], c.hours.add()),
		span{"month", 1, 12, monthNames}.read(fields[3], c.months.add()),
		span{"year", firstYear, lastYear, nil}.read(fields[5], years),
		c.days.read(fields[2], fields[4]),
	} {
		if err != nil {
			return nil, fmt.Errorf("cron(%s): %w", text, err)
		}
	}
	return c, nil
}

func (s *set) add() func(int) { return func(n int) { *s |= 1 << n } }

// Next implements Schedule.
func (c *cron) Next(after, _ time.Time) (time.Time, bool) {
	local := after.In(c.zone)
	// One day earlier, because the clock may have been set forward or back.
	first := time.Date(local.Year(), local.Month(), local.Day()-1, 0, 0, 0, 0, time.UTC)
	for day := first; day.Year() <= lastYear; {
		switch {
		case day.Year() < firstYear:
			day = time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC)
		case !c.years[day.Year()-firstYear]:
			day = time.Date(day.Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
		case !c.months.has(int(day.Month())):
			day = time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		default:
			if c.days.on(day) {
				if t, ok := c.within(day, after); ok {
					return t, true
				}
			}
			day = day.AddDate(0, 0, 1)
		}
	}
	return time.Time{}, false
}

// within returns the first time of a day that is after a time.
func (c *cron) within(day, after time.Time) (time.Time, bool) {
	for hour := range 24 {
		if !c.hours.has(hour) {
			continue
		}
		for minute := range 60 {
			if !c.minutes.has(minute) {
				continue
			}
			clock := day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
			if t, ok := instant(clock, c.zone); ok && t.After(after) {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// instant returns the first time at which the clocks of a zone show a wall-clock time; clock holds that wall-clock
// time as if it were UTC. ok is false if they never show it.
func instant(clock time.Time, zone *time.Location) (time.Time, bool) {
	if zone == time.UTC {
		return clock, true
	}
	const around = 26 * time.Hour // exceeds every UTC offset, and is less than the time between two clock changes
	var found time.Time
	ok := false
	for _, near := range []time.Time{clock.Add(-around), clock.Add(around)} {
		_, offset := near.In(zone).Zone()
		t := clock.Add(-time.Duration(offset) * time.Second).In(zone)
		shown := t.Hour() == clock.Hour() && t.Minute() == clock.Minute() && t.Day() == clock.Day()
		if shown && (!ok || t.Before(found)) {
			found, ok = t, true
		}
	}
	return found, ok
}
