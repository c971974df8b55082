package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Schedule is a schedule expression that has been read.
type Schedule interface {
	// Next is the first time of the schedule after a time. It reports false when there is none any more. from is when
	// the schedule began: the beginning of rate's steps; the others do not look at it.
	Next(after, from time.Time) (time.Time, bool)
}

// Style is what an expression may be.
type Style struct {
	// Once allows at(…).
	Once bool
	// AnyPlural allows rate(1 hours) and rate(5 hour), as Scheduler does and rules do not.
	AnyPlural bool
	// Zone is the time zone of cron and at; nil means UTC.
	Zone *time.Location
}

// Parse reads an expression. The error says in plain words what is wrong; what AWS says is for the services.
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

// Once reports whether a schedule has one time only.
func Once(s Schedule) bool {
	_, ok := s.(once)
	return ok
}

// Steps reports whether a schedule is one of equal steps from its beginning, a rate.
func Steps(s Schedule) bool {
	_, ok := s.(rate)
	return ok
}
