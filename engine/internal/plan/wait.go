package plan

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/asl"
	"stepback/asl/expression"
	"stepback/asl/jsonpath"
)

// Wait is a Wait state's delay: a number of seconds or an instant.
type Wait struct {
	Seconds       Number
	Timestamp     time.Time // if Timestamp is literal
	TimestampPath *jsonpath.Path
	// TimestampExpression is a Timestamp in JSONata.
	TimestampExpression *expression.Value
}

func wait(s *asl.State) (*Wait, error) {
	w := &Wait{}
	var err error
	d := dialect(s.QueryLanguage)
	if w.Seconds, err = d.number("", "Seconds", s.Seconds); err != nil || w.Seconds.Present {
		return w, err
	}
	if s.Timestamp.Path != "" {
		if w.TimestampPath, err = jsonpath.Compile(s.Timestamp.Path); err != nil {
			return nil, fmt.Errorf("TimestampPath: %w", err)
		}
		return w, nil
	}
	if s.Timestamp.Literal == nil {
		return nil, errors.New("a Wait state needs Seconds, SecondsPath, Timestamp or TimestampPath")
	}
	if expression.Opened(s.Timestamp.Literal.Text()) && s.QueryLanguage == asl.JSONata {
		w.TimestampExpression, err = d.value("Timestamp", s.Timestamp.Literal)
		return w, err
	}
	t, ok := ParseTimestamp(s.Timestamp.Literal.Text())
	if !ok {
		return nil, fmt.Errorf("the Timestamp %q is not a date and time such as 2026-01-02T03:04:05Z",
			s.Timestamp.Literal.Text())
	}
	w.Timestamp = t
	return w, nil
}

// maxOffset is the largest offset of a zone from UTC in seconds, and maxFraction the most digits of a fraction of a
// second.
const (
	maxOffset   = 18 * 60 * 60
	maxFraction = 9
)

// ParseTimestamp parses an ISO 8601 date and time with a T and a zone, as Java's ISO_OFFSET_DATE_TIME does, except
// that the language forbids lower-case letters.
func ParseTimestamp(s string) (time.Time, bool) {
	if len(s) < 11 || s[10] != 'T' || strings.Contains(s, ",") || fraction(s) > maxFraction {
		return time.Time{}, false
	}
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		_, offset := t.Zone()
		return t, -maxOffset <= offset && offset <= maxOffset
	}
	return time.Time{}, false
}

// fraction returns the number of digits after the point.
func fraction(s string) int {
	_, digits, _ := strings.Cut(s, ".")
	return len(digits) - len(strings.TrimLeft(digits, "0123456789"))
}

// Fail is the error that a Fail state raises.
type Fail struct {
	Error, Cause Text
}

func fail(s *asl.State) (*Fail, error) {
	f := &Fail{}
	var err error
	if f.Error, err = dialect(s.QueryLanguage).text("Error", s.Error); err != nil {
		return nil, err
	}
	f.Cause, err = dialect(s.QueryLanguage).text("Cause", s.Cause)
	return f, err
}
