package chaos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/tasks/faults"
)

// The kinds of faults besides an error by its name.
const (
	Throttle    = faults.Throttle // refused with the error that the service throttles with
	Hang        = faults.Hang     // no answer until the client gives up or the fault ends
	Crash       = faults.Crash    // the connection is cut, in half of the cases after the request was carried out
	Unavailable = "unavailable"   // refused with status 503
	Partial     = "partial"       // a share of the entries of a batch fails
	Latency     = "latency"       // carried out after a delay
)

var kinds = []string{Throttle, Hang, Crash, Unavailable, Partial, Latency}

// MaxLatency is the maximum delay of a request.
const MaxLatency = 15 * time.Minute

// Spec describes a fault and the requests it applies to.
type Spec struct {
	// Service is the name of a service's API model, Action the name of an operation; both may be patterns with *.
	Service, Action string
	// Error is one of the kinds above or an error code.
	Error string
	// Rate is the share of requests affected, from 0 to 1; for Partial it is the share of entries.
	Rate float64
	// From and To are the bounds between which Latency is drawn.
	From, To time.Duration
	// custom is true if the service's model does not have the error but the caller wants it nevertheless.
	custom bool
}

// Accepted tells users how to write a fault.
const Accepted = "a fault is SERVICE:ACTION:ERROR:RATE or SERVICE:ACTION:latency:TIME, for example " +
	"dynamodb:PutItem:throttle:10% or sqs:*:latency:100ms-2s"

// String formats a Spec in the form that parseSpec reads.
func (s Spec) String() string {
	name, rate := s.Error, strconv.FormatFloat(s.Rate, 'g', -1, 64)
	if s.custom {
		name = customPrefix + name
	}
	if s.Error != Latency {
		return s.Service + ":" + s.Action + ":" + name + ":" + rate
	}
	text := s.Service + ":" + s.Action + ":" + Latency + ":" + s.From.String()
	if s.To != s.From {
		text += "-" + s.To.String()
	}
	if s.Rate != 1 {
		text += ":" + rate
	}
	return text
}

const customPrefix = "custom="

// parseSpec parses a fault. The Set checks whether service, action and error exist.
func parseSpec(text string) (Spec, error) {
	parts := strings.Split(text, ":")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	const withRate, latencyWithRate = 4, 5
	if len(parts) != withRate && (len(parts) != latencyWithRate || parts[2] != Latency) {
		return Spec{}, fmt.Errorf("fault %q has %d parts separated by colons: %s", text, len(parts), Accepted)
	}
	if i := slices.Index(parts, ""); i >= 0 {
		return Spec{}, fmt.Errorf("fault %q: its part %d is empty: %s", text, i+1, Accepted)
	}
	s := Spec{Service: parts[0], Action: parts[1], Rate: 1}
	s.Error, s.custom = strings.CutPrefix(parts[2], customPrefix)
	var err error
	if s.Error == Latency && !s.custom {
		if s.From, s.To, err = parseLatency(parts[3]); err == nil && len(parts) == latencyWithRate {
			s.Rate, err = faults.ParseRate(parts[4])
		}
	} else {
		s.Rate, err = faults.ParseRate(parts[3])
	}
	if err != nil {
		return s, fmt.Errorf("fault %q: %w", text, err)
	}
	return s, nil
}

// parseLatency parses a time, or two times separated by a hyphen.
func parseLatency(text string) (from, to time.Duration, err error) {
	first, second, both := strings.Cut(text, "-")
	if !both {
		second = first
	}
	from, e1 := time.ParseDuration(strings.TrimSpace(first))
	to, e2 := time.ParseDuration(strings.TrimSpace(second))
	if e1 != nil || e2 != nil || from < 0 || to < from || to == 0 || to > MaxLatency {
		return 0, 0, fmt.Errorf("the latency %q is neither a time such as 200ms nor two such as 100ms-2s, up to %s", text,
			MaxLatency)
	}
	return from, to, nil
}

// matches reports whether a name matches a pattern, in which * stands for any characters.
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}
