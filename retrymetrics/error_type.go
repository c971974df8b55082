package retrymetrics

import (
	"slices"
	"strings"

	"stepback/retry"
	"stepback/retrypatterns"
	"stepback/statemachine"
)

// OtherError is the ErrorType of every error name that is not in the retry table.
const OtherError = "Other"

// OwnErrors is how many error names of its own a machine has where metrics cost nothing.
const OwnErrors = 50

var errorTypes = knownErrors()

func knownErrors() []string {
	known := statemachine.PermanentErrors()
	for _, p := range retrypatterns.ErrorPatterns() {
		known = append(known, p.Error)
	}
	for _, s := range statemachine.DefaultTable().States {
		for _, r := range s.Rows {
			known = append(known, r.Errors...)
		}
	}
	known = append(known, OtherError)
	slices.Sort(known)
	return slices.Compact(known)
}

// ErrorTypes returns every value that the dimension ErrorType can have, sorted.
func ErrorTypes() []string { return slices.Clone(errorTypes) }

// ErrorTypeOf returns the ErrorType of an error name. Names come from code, of which a panic alone can make up any:
// each would be one more metric to pay for, so that a name which the retry table does not know is counted as
// [OtherError]; but see Collector.OwnErrors.
func ErrorTypeOf(name string) string {
	if _, ok := slices.BinarySearch(errorTypes, name); ok {
		return name
	}
	return OtherError
}

// plain reports whether a name can be the value of a dimension, and be read: up to 100 printable characters of ASCII.
func plain(name string) bool {
	const longest = 100
	return name != "" && len(name) <= longest &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// throttled reports whether an error says that a callee refused an attempt for its rate or concurrency.
func throttled(name string) bool {
	return strings.HasSuffix(name, "TooManyRequestsException") || strings.HasSuffix(name, "ThrottledException") ||
		strings.HasSuffix(name, "ThrottlingException") || name == retry.S3SlowDown ||
		name == retry.TooManyRequestsError
}

// ranOutOfTime reports whether an error says that time ran out on an attempt.
func ranOutOfTime(name string) bool {
	switch name {
	case retry.StatesTimeout, retry.StatesHeartbeatTimeout, retry.SandboxTimedout,
		retry.LambdaClientExecutionTimeoutException:
		return true
	}
	return false
}
