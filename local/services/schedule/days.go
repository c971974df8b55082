package schedule

import (
	"errors"
	"strings"
	"time"
)

// days is the set of days of a cron expression, given by day of the month or by weekday.
type days struct {
	ofMonth     set  // numbers
	last        bool // L
	lastWorkday bool // LW
	nearest     set  // days n of nW

	ofWeek set    // weekdays; SUN is 1
	lastOf set    // weekdays n of nL
	nth    [8]set // weekdays n of n#m, by m
}

var (
	monthDays = span{"day of month", 1, 31, nil}
	weekDays  = span{"day of week", 1, 7, dayNames}
	nths      = span{"day of week", 1, 5, nil}
)

func (d *days) read(ofMonth, ofWeek string) error {
	if (ofMonth == "?") == (ofWeek == "?") {
		return errors.New("one of the day of month and the day of week has to be ?, and the other one not")
	}
	if ofWeek == "?" {
		return eachPart(ofMonth, d.monthPart)
	}
	return eachPart(ofWeek, d.weekPart)
}

func eachPart(text string, read func(string) error) error {
	for part := range strings.SplitSeq(text, ",") {
		if err := read(part); err != nil {
			return err
		}
	}
	return nil
}

func (d *days) monthPart(text string) error {
	switch text {
	case "L":
		d.last = true
		return nil
	case "LW", "WL":
		d.lastWorkday = true
		return nil
	}
	if day, ok := strings.CutSuffix(text, "W"); ok {
		n, err := monthDays.number(day)
		d.nearest |= 1 << n
		return err
	}
	return monthDays.part(text, d.ofMonth.add())
}

func (d *days) weekPart(text string) error {
	if text == "L" {
		d.ofWeek |= 1 << 7
		return nil
	}
	if day, ok := strings.CutSuffix(text, "L"); ok {
		n, err := weekDays.number(day)
		d.lastOf |= 1 << n
		return err
	}
	if day, number, ok := strings.Cut(text, "#"); ok {
		n, err := weekDays.number(day)
		if err != nil {
			return err
		}
		m, err := nths.number(number)
		d.nth[m] |= 1 << n
		return err
	}
	return weekDays.part(text, d.ofWeek.add())
}

// on reports whether a day is in the set. The day is given in UTC.
func (d *days) on(day time.Time) bool {
	n, length := day.Day(), time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	weekday := int(day.Weekday()) + 1
	return d.ofMonth.has(n) || d.last && n == length || d.lastWorkday && n == workday(day, length, length) ||
		d.nearestIs(day, length) ||
		d.ofWeek.has(weekday) || d.lastOf.has(weekday) && n+7 > length || d.nth[(n-1)/7+1].has(weekday)
}

// nearestIs reports whether a day is the workday nearest to day n, for one of the n given as nW.
func (d *days) nearestIs(day time.Time, length int) bool {
	for n := 1; d.nearest != 0 && n <= length; n++ {
		if d.nearest.has(n) && workday(day, n, length) == day.Day() {
			return true
		}
	}
	return false
}

// workday returns the day of the month from Monday to Friday that is nearest to day n, within the month.
func workday(month time.Time, n, length int) int {
	switch time.Date(month.Year(), month.Month(), n, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if n == 1 {
			return n + 2
		}
		return n - 1
	case time.Sunday:
		if n == length {
			return n - 2
		}
		return n + 1
	default:
		return n
	}
}
