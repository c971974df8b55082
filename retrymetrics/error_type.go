package retrymetrics

import (
	"slices"
	"strings"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
	"stepback/statemachine"
)

// OtherError is the ErrorType of every error name that is not in the retry table.
const OtherError = "Other"

// OwnErrors is the value for Collector.OwnErrors if metrics cost nothing.
const OwnErrors = 50

var errorTypes = knownErrors()

func knownErrors() []string {
	known := statemachine.PermanentErrors()
	for _, p := range retrypatterns.ErrorPatterns() {
		known = append(known, p.Error)
	}
	for _, s := range slices.Concat(statemachine.DefaultTable().States, statemachine.FilesTable(time.Hour).States) {
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

// ErrorTypeOf returns the ErrorType of an error name. A name that is not in the retry table becomes [OtherError]:
// names come from code, a panic can produce any name, and each would be one more metric to pay for. See also
// Collector.OwnErrors.
func ErrorTypeOf(name string) string {
	if _, ok := slices.BinarySearch(errorTypes, name); ok {
		return name
	}
	return OtherError
}

// plain reports whether a name can be the value of a dimension: 1 to 100 printable ASCII characters without spaces.
func plain(name string) bool {
	const longest = 100
	return name != "" && len(name) <= longest &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// throttled reports whether an error means that a callee refused an attempt because of its rate or concurrency.
func throttled(name string) bool {
	return strings.HasSuffix(name, "TooManyRequestsException") || strings.HasSuffix(name, "ThrottledException") ||
		strings.HasSuffix(name, "ThrottlingException") || name == retry.S3SlowDown ||
		name == retry.TooManyRequestsError
}

// ranOutOfTime reports whether an error means that an attempt timed out.
func ranOutOfTime(name string) bool {
	switch name {
	case retry.StatesTimeout, retry.StatesHeartbeatTimeout, retry.SandboxTimedout,
		retry.LambdaClientExecutionTimeoutException:
		return true
	}
	return false
}
