package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Schedule is a parsed schedule expression.
type Schedule interface {
	// Next returns the first scheduled time after the time after. ok is false if there are no more. from is the
	// time at which the schedule began. The intervals of a rate are counted from it; other schedules ignore it.
	Next(after, from time.Time) (time.Time, bool)
}

// Style determines which expressions are allowed, and the time zone.
type Style struct {
	// Once allows at(…).
	Once bool
	// AnyPlural allows rate(1 hours) and rate(5 hour), as Scheduler does and rules do not.
	AnyPlural bool
	// Zone is the time zone of cron and at; nil means UTC.
	Zone *time.Location
}

// Parse parses an expression. The error describes in plain words what is wrong; services replace it with AWS's
// wording.
func Parse(text string, style Style) (Schedule, error) {
	if style.Zone == nil {
		style.Zone = time.UTC
	}
	kind, rest, _ := strings.Cut(text, "(")
	inner, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return nil, fmt.Errorf("%q is none of rate(…), cron(…) and at(…)", text)
	}
	switch {
	case kind == "rate":
		return parseRate(inner, style.AnyPlural)
	case kind == "cron":
		return parseCron(inner, style.Zone)
	case kind == "at" && style.Once:
		return parseOnce(inner, style.Zone)
	}
	return nil, fmt.Errorf("%q: %s is not a kind of schedule here", text, kind)
}

// Once reports whether a schedule has only one time.
func Once(s Schedule) bool {
	_, ok := s.(once)
	return ok
}

// Steps reports whether a schedule is a rate: equal intervals from its start.
func Steps(s Schedule) bool {
	_, ok := s.(rate)
	return ok
}
