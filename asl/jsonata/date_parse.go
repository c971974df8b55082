package jsonata

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"
)

// pattern returns the regular expression for the texts that a component accepts.
func (p *datePart) pattern() (string, *Error) {
	switch {
	case p.component == 0:
		return regexp.QuoteMeta(p.literal), nil
	case p.component == 'Z' || p.component == 'z':
		s := "[-+][0-9]+"
		if p.component == 'z' {
			s = "GMT" + s
		}
		if p.integer.regular > 0 {
			s += regexp.QuoteMeta(string(p.integer.separators[0].character)) + "[0-9]+"
		}
		return s, nil
	case p.integer != nil:
		return p.integer.pattern(p.digits)
	case strings.IndexByte("MxFP", p.component) >= 0:
		return "[a-zA-Z]+", nil
	default:
		return "", raise("D3133", string(rune(p.component)))
	}
}

// pattern returns the regular expression for a number of at most the given digits.
func (p *integerPicture) pattern(digits int) (string, *Error) {
	switch p.primary {
	case letterPicture:
		return "[a-z]+", nil
	case romanPicture:
		return "[mdclxvi]+", nil
	case wordPicture:
		return "(?:" + strings.Join(wordOrder, "|") + "|and|[-, ])+", nil
	case sequencePicture:
		return "", raise("D3130", p.token)
	default:
	}
	s := "[0-9]+"
	if digits > 0 {
		s = "[0-9]{" + strconv.Itoa(max(digits-p.optional, 0)) + "," + strconv.Itoa(digits) + "}"
	}
	if p.ordinal {
		s += "(?:th|st|nd|rd)"
	}
	return s, nil
}

// read converts the text of a component to its number; it returns false for an unknown name.
func (p *datePart) read(s string) (float64, bool, *Error) {
	switch {
	case p.component == 'Z' || p.component == 'z':
		return p.readZone(s), true, nil
	case p.integer != nil:
		f, err := p.integer.parse(s)
		return f, true, err
	case p.component == 'P':
		afternoon := s == "pm" || s == "PM"
		if afternoon {
			return 1, true, nil
		}
		return 0, s == "am" || s == "AM", nil
	case p.component == 'F':
		return p.readName(dayNames[1:], s)
	default:
		return p.readName(monthNames, s)
	}
}

func (p *datePart) readName(names []string, s string) (float64, bool, *Error) {
	for i, name := range names {
		if p.maxWidth > 0 && len(name) > p.maxWidth {
			name = name[:p.maxWidth]
		}
		if name == s {
			return float64(i + 1), true, nil
		}
	}
	return 0, false, nil
}

// readZone returns an offset in minutes.
func (p *datePart) readZone(s string) float64 {
	s = strings.TrimPrefix(strings.ToUpper(s), "GMT")
	if p.integer.regular > 0 {
		hours, minutes, _ := strings.Cut(s, string(p.integer.separators[0].character))
		return leadingInteger(hours)*60 + leadingInteger(minutes)
	}
	if len(s) <= 3 {
		return leadingInteger(s) * 60
	}
	return leadingInteger(s[:3])*60 + leadingInteger(s[3:])
}

// parsedDate collects the components of a date being parsed.
type parsedDate map[byte]float64

// given reports whether a component was parsed and is not zero.
func (d parsedDate) given(component byte) bool {
	f, ok := d[component]
	return ok && f != 0 && !math.IsNaN(f)
}

// matches reports whether at least one of the wanted components is given, and none of the others in all.
func (d parsedDate) matches(all, wanted string) bool {
	some := false
	for i := range len(all) {
		if !d.given(all[i]) {
			continue
		}
		if strings.IndexByte(wanted, all[i]) < 0 {
			return false
		}
		some = true
	}
	return some
}

// parseDate parses a date formatted with a picture. It returns false if the text does not match.
func parseDate(text string, parts []datePart, ev *evaluator) (float64, bool, *Error) {
	d, found, err := matchDate(text, parts, &ev.budget)
	if err != nil || !found {
		return 0, false, err
	}
	const dates, times = "YXMxWwdD", "PHhmsf"
	byMonth := d.matches(dates, "YMD")
	byYearDay := !byMonth && d.matches(dates, "Yd")
	byMonthWeek := d.matches(dates, "XxwF")
	byWeek := !byMonthWeek && d.matches(dates, "XWF")
	halfDays := !d.matches(times, "Hmsf") && d.matches(times, "Phmsf")
	order := "YMD"
	switch {
	case byYearDay:
		order = "YD"
	case byMonthWeek:
		order = "XxwF"
	case byWeek:
		order = "XWF"
	}
	if halfDays {
		order += "Phmsf"
	} else {
		order += "Hmsf"
	}
	if err := d.complete(order, ev.now); err != nil {
		return 0, false, err
	}
	if byMonthWeek || byWeek {
		return 0, false, &Error{Code: "D3136"}
	}
	return d.millis(byYearDay, halfDays), true, nil
}

// matchDate parses the components; it returns false if the text does not match or there are none.
func matchDate(text string, parts []datePart, b *budget) (parsedDate, bool, *Error) {
	var pattern strings.Builder
	pattern.WriteString("(?i)^")
	for i := range parts {
		s, err := parts[i].pattern()
		if err != nil {
			return nil, false, err
		}
		pattern.WriteString("(" + s + ")")
	}
	pattern.WriteString("$")
	re, err := regexp.Compile(pattern.String())
	if err != nil {
		return nil, false, runtimeError("Invalid regular expression: " + strings.TrimSuffix(pattern.String(), "$"))
	}
	if err := b.spend(len(text) * programSize(pattern.String()) / bytesPerStep); err != nil {
		return nil, false, err
	}
	groups := re.FindStringSubmatch(text)
	if groups == nil {
		return nil, false, nil
	}
	d, found := parsedDate{}, false
	for i := range parts {
		if parts[i].component != 0 {
			found = true
			f, ok, err := parts[i].read(groups[i+1])
			if err != nil {
				return nil, false, err
			}
			if ok {
				d[parts[i].component] = f
			} else {
				delete(d, parts[i].component)
			}
		}
	}
	return d, found, nil
}

// programSize returns the number of instructions of a compiled regular expression, the factor by which the time of a
// match exceeds that of reading the text. It returns 0 for a pattern that does not compile.
func programSize(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// complete fills in missing components. Components larger than the given ones are taken from the present time;
// smaller ones get their first value. It returns an error if a component between given ones is missing.
func (d parsedDate) complete(order string, now func() time.Time) *Error {
	started, ended := false, false
	for i := range len(order) {
		component := order[i]
		_, isSet := d[component]
		switch {
		case isSet:
			started = true
			if ended {
				return &Error{Code: "D3136"}
			}
		case started:
			d[component] = 0
			if strings.IndexByte("MDd", component) >= 0 {
				d[component] = 1
			}
			ended = true
		case component == 'P':
			d[component] = 0 // the reference implementation always assumes the morning here
		default:
			d[component] = float64(dateComponent(now(), component))
		}
	}
	return nil
}

func (d parsedDate) millis(byYearDay, halfDays bool) float64 {
	month, dayOfMonth := 0.0, d['D']
	if d['M'] > 0 {
		month = d['M'] - 1
	}
	if byYearDay && math.Abs(d['Y']) < 1e6 && math.Abs(d['d']) < 1e6 {
		// Days beyond the end of the year do not change the year.
		derived := time.Date(int(d['Y']), 1, int(d['d']), 0, 0, 0, 0, time.UTC)
		month, dayOfMonth = float64(derived.Month()-1), float64(derived.Day())
	}
	hour := d['H']
	if halfDays {
		hour = math.Mod(d['h'], 12)
		if d['h'] != 12 {
			hour = d['h']
		}
		if d['P'] == 1 {
			hour += 12
		}
	}
	year := d['Y']
	if year >= 0 && year <= 99 {
		year += 1900 // as JavaScript's Date.UTC does
	}
	const most = 1e9
	for _, f := range []float64{year, month, dayOfMonth, hour, d['m'], d['s'], d['f']} {
		if math.IsNaN(f) || math.Abs(f) > most {
			return math.NaN()
		}
	}
	t := time.Date(int(year), time.Month(int(month)+1), int(dayOfMonth), int(hour), int(d['m']), int(d['s']), 0,
		time.UTC)
	millis := float64(t.UnixMilli()) + d['f']
	offset := d['Z']
	if offset == 0 {
		offset = d['z']
	}
	if math.Abs(millis) > maxMillis {
		return math.NaN()
	}
	return millis - offset*60*1000
}
