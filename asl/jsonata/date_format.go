package jsonata

import (
	"math"
	"strings"
	"time"
)

// weekStart returns the Monday of the first ISO week of a year or month. That is the week with its first Thursday.
func weekStart(year int, month time.Month) time.Time {
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	weekday := isoWeekday(first)
	if weekday > 4 {
		return first.AddDate(0, 0, 8-weekday)
	}
	return first.AddDate(0, 0, 1-weekday)
}

func isoWeekday(t time.Time) int {
	if t.Weekday() == time.Sunday {
		return 7
	}
	return int(t.Weekday())
}

// weekIn returns the number of the week that contains today, counted in the period (year or month) that the week
// belongs to: previous, this or next. today is at midnight.
func weekIn(today, previous, this, next time.Time, most int) int {
	week := weeksBetween(this, today)
	switch {
	case week > most && !today.Before(next):
		return 1
	case week < 1:
		return weeksBetween(previous, today)
	default:
		return week
	}
}

func weeksBetween(start, end time.Time) int {
	days := int(math.Floor(end.Sub(start).Hours() / 24))
	return int(math.Floor(float64(days)/7)) + 1
}

// dateComponent returns a component of a date as a number.
func dateComponent(t time.Time, component byte) int {
	year, month := t.Year(), t.Month()
	today := time.Date(year, month, t.Day(), 0, 0, 0, 0, time.UTC)
	switch component {
	case 'Y':
		return year
	case 'M':
		return int(month)
	case 'D':
		return t.Day()
	case 'd':
		return t.YearDay()
	case 'F':
		return isoWeekday(t)
	case 'W':
		return weekIn(today, weekStart(year-1, 1), weekStart(year, 1), weekStart(year+1, 1), 52)
	case 'w':
		return weekIn(today, weekStart(year, month-1), weekStart(year, month), weekStart(year, month+1), 4)
	case 'X':
		return weekPeriod(t, weekStart(year, 1), weekStart(year+1, 1), year-1, year, year+1)
	case 'x':
		before, after := today.AddDate(0, 0, -t.Day()), time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
		return weekPeriod(t, weekStart(year, month), weekStart(year, month+1), int(before.Month()), int(month),
			int(after.Month()))
	case 'H':
		return t.Hour()
	case 'h':
		if t.Hour()%12 == 0 {
			return 12
		}
		return t.Hour() % 12
	case 'P':
		return t.Hour() / 12
	case 'm':
		return t.Minute()
	case 's':
		return t.Second()
	case 'f':
		return t.Nanosecond() / int(time.Millisecond)
	default:
		return 0
	}
}

func weekPeriod(t, start, end time.Time, before, within, after int) int {
	switch {
	case t.Before(start):
		return before
	case !t.Before(end):
		return after
	default:
		return within
	}
}

// zone is an offset from UTC. It is read from a number such as -0530, as the reference implementation does; NaN if
// the number is invalid.
type zone struct{ hours, minutes float64 }

func parseZone(text string) zone {
	f := leadingInteger(text)
	return zone{hours: math.Floor(f / 100), minutes: math.Mod(f, 100)}
}

// isoDate is the format of dates for which no picture is given.
var isoDate = func() []datePart {
	parts, err := parseDatePicture("[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]")
	if err != nil {
		panic(err.Code)
	}
	return parts
}()

// maxMillis is the largest distance of a JavaScript date from 1970, in milliseconds.
const maxMillis = 8.64e15

// formatDate formats milliseconds since 1970 according to a picture.
func formatDate(millis float64, parts []datePart, z zone) (string, *Error) {
	millis = math.Trunc(millis + (60*z.hours+z.minutes)*60*1000)
	var t *time.Time
	if math.Abs(millis) <= maxMillis {
		valid := time.UnixMilli(int64(millis)).UTC()
		t = &valid
	}
	var b strings.Builder
	for i := range parts {
		if parts[i].component == 0 {
			b.WriteString(parts[i].literal)
			continue
		}
		s, err := parts[i].format(t, z)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// format formats a component of a date. A nil t is an invalid date.
func (p *datePart) format(t *time.Time, z zone) (string, *Error) {
	switch p.component {
	case 'Z', 'z':
		return p.formatZone(z)
	case 'P':
		s := "am"
		if t != nil && t.Hour() >= 12 {
			s = "pm"
		}
		if p.named && p.letters == upperLetters {
			s = strings.ToUpper(s)
		}
		return s, nil
	case 'C', 'E':
		return "ISO", nil
	}
	n := math.NaN()
	if t != nil {
		n = float64(dateComponent(*t, p.component))
	}
	switch {
	case p.named && p.component == 'f':
		return "", runtimeError("Cannot read properties of undefined (reading 'primary')")
	case p.named && strings.IndexByte(integerComponents, p.component) >= 0:
		return p.name(n)
	case p.integer == nil:
		return "undefined", nil // the reference implementation's text for an unknown component
	}
	if p.component == 'Y' && p.digits >= 0 {
		n = math.Mod(n, math.Pow(10, float64(p.digits)))
	}
	return p.integer.format(n)
}

// name formats the name of a month or day.
func (p *datePart) name(n float64) (string, *Error) {
	var names []string
	switch p.component {
	case 'M', 'x':
		names = monthNames
	case 'F':
		names = dayNames[1:]
	default:
		return "", raise("D3133", string(rune(p.component)))
	}
	if math.IsNaN(n) {
		return p.missingName()
	}
	s := names[int(n)-1]
	switch p.letters {
	case upperLetters:
		s = strings.ToUpper(s)
	case lowerLetters:
		s = strings.ToLower(s)
	default:
	}
	if p.maxWidth >= 0 && len(s) > p.maxWidth {
		s = s[:p.maxWidth]
	}
	return s, nil
}

// missingName returns what the reference implementation returns for the name of an invalid date.
func (p *datePart) missingName() (string, *Error) {
	var property string
	switch {
	case p.letters == upperLetters:
		property = "toUpperCase"
	case p.letters == lowerLetters:
		property = "toLowerCase"
	case p.maxWidth >= 0:
		property = "length"
	default:
		return "undefined", nil
	}
	return "", runtimeError("Cannot read properties of undefined (reading '" + property + "')")
}

func (p *datePart) formatZone(z zone) (string, *Error) {
	offset := z.hours*100 + z.minutes
	var s string
	var err *Error
	switch digits := p.integer.mandatory; {
	case p.integer.regular > 0 || digits == 3 || digits == 4:
		s, err = p.integer.format(offset)
	case digits == 1 || digits == 2:
		if s, err = p.integer.format(z.hours); err == nil && z.minutes != 0 {
			minutes, _ := (&integerPicture{zero: '0', mandatory: 2}).format(math.Floor(z.minutes))
			s += ":" + minutes
		}
	default:
		err = raise("D3134", float64(digits))
	}
	if err != nil {
		return "", err
	}
	if offset >= 0 {
		s = "+" + s
	}
	if p.component == 'z' {
		s = "GMT" + s
	}
	if offset == 0 && p.military {
		s = "Z"
	}
	return s, nil
}
