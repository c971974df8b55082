package faults

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stepback/internal/spelling"
	"stepback/retrypatterns"
)

// Kinds of faults that are not error names.
const (
	Hang     = "hang"     // no answer until the invocation's context ends
	Crash    = "crash"    // the process dies, in half of the cases after the work was done
	Throttle = "throttle" // Lambda refuses the call with TooManyRequestsException
)

// statesErrors are the reserved error names that can be injected into a task.
var statesErrors = []string{"States.ExecutionLimitExceeded", "States.TaskFailed", "States.Timeout"}

// maxErrorName is Step Functions' limit for the length of an error name.
const maxErrorName = 256

// Spec is one --fault STATE:ERROR:RATE.
type Spec struct {
	State string  // the state whose invocations are affected
	Error string  // hang, crash, throttle or an error name
	Rate  float64 // the share of invocations affected, from 0 to 1
}

// String formats the spec in the form that ParseSpec reads.
func (s Spec) String() string {
	return s.State + ":" + s.Error + ":" + strconv.FormatFloat(s.Rate, 'g', -1, 64)
}

const accepted = "a fault is STATE:ERROR:RATE, for example ProcessSingleUserRecord:DatabaseConnectionError:10%"

// ParseSpec parses STATE:ERROR:RATE. STATE must be one of states, if any are given. ERROR is hang, crash, throttle,
// the name of an error of Lambda (Lambda.ServiceException), States.Timeout, States.TaskFailed,
// States.ExecutionLimitExceeded, or any other name, which the function then reports. A name that differs from a known
// one by a few letters is refused; custom=NAME accepts it unchanged. RATE is a number from 0 to 1 or a percentage
// from 0% to 100%.
func ParseSpec(text string, states ...string) (Spec, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return Spec{}, fmt.Errorf("fault %q has %d parts separated by colons, not 3: %s", text, len(parts), accepted)
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	name, custom := strings.CutPrefix(parts[1], "custom=")
	spec := Spec{State: parts[0], Error: name}
	if err := checkState(spec.State, states); err != nil {
		return Spec{}, fmt.Errorf("fault %q: %w", text, err)
	}
	if err := checkError(spec.Error); err != nil {
		return Spec{}, fmt.Errorf("fault %q: %w", text, err)
	}
	if meant := mistyped(spec.Error); meant != "" && !custom {
		return Spec{}, fmt.Errorf("fault %q: did you mean %s? (to inject it anyway, write custom=%s)", text,
			meant,
			spec.Error)
	}
	rate, err := ParseRate(parts[2])
	if err != nil {
		return Spec{}, fmt.Errorf("fault %q: %w", text, err)
	}
	spec.Rate = rate
	return spec, nil
}

func checkState(state string, states []string) error {
	switch {
	case state == "":
		return fmt.Errorf("the state is missing: %s", accepted)
	case len(states) > 0 && !slices.Contains(states, state):
		return fmt.Errorf("there is no state %q; the states are %s", state, strings.Join(states, ", "))
	}
	return nil
}

func checkError(name string) error {
	const kinds = "use hang, crash, throttle or an error name such as DatabaseConnectionError, Lambda.ServiceException or States.Timeout"
	switch {
	case name == "":
		return fmt.Errorf("the error is missing; %s", kinds)
	case len(name) > maxErrorName:
		return fmt.Errorf("the error name has %d bytes; Step Functions allows %d", len(name), maxErrorName)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("the error name %q contains a blank or a control character; %s", name, kinds)
	case strings.HasPrefix(name, "States.") && !slices.Contains(statesErrors, name):
		return fmt.Errorf("no task can fail with %s; of the reserved names, %s can be injected", name,
			strings.Join(statesErrors, ", "))
	}
	for _, kind := range []string{Hang, Crash, Throttle} {
		if name != kind && strings.EqualFold(name, kind) {
			return fmt.Errorf("%q: write it %q", name, kind)
		}
	}
	return nil
}

// mistyped returns the known error name that was probably meant. It returns "" if name is known or not similar to
// any.
func mistyped(name string) string {
	if name == Hang || name == Crash || name == Throttle || strings.HasPrefix(name, "States.") ||
		strings.HasPrefix(name, "Lambda.") {
		return ""
	}
	known := slices.Sorted(maps.Keys(functionMessages))
	for _, e := range retrypatterns.ErrorPatterns() {
		known = append(known, e.Error)
	}
	if slices.Contains(known, name) {
		return ""
	}
	return spelling.Nearest(name, known)
}

// ParseRate parses a share: a number from 0 to 1, or a percentage from 0% to 100%.
func ParseRate(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	rate, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	top := 1.0
	if percent {
		top = 100
	}
	if err != nil || !(rate >= 0 && rate <= top) {
		return 0, fmt.Errorf("the rate %q is neither a number from 0 to 1 nor a percentage from 0%% to 100%%", text)
	}
	return rate / top, nil
}
