package review

import (
	"strings"

	"stepback/asl"
)

// Rule is one kind of finding.
type Rule struct {
	// Code names the rule, such as NO_JITTER.
	Code asl.Code
	// Severity is ERROR for what goes wrong as it stands, WARNING for what goes wrong on a bad day, ADVICE for what
	// should be known.
	Severity asl.Severity
	// Title says in a line what the rule finds.
	Title string
	// Why says what happens, what to do instead, and where that is written.
	Why string

	check func(s *subject)
}

// Rules returns the rules in the order in which documentation lists them. The slice is the caller's own.
func Rules() []Rule {
	return []Rule{
		retrierNeverMatches, permanentRetried, everythingRetried, lambdaFaults, serviceFaults, httpCodes,
		noJitter, fixedInterval, noCap, tooManyRetries, capBelowInterval, zeroOnAll, throttleBackoff, fullJitterShort,
		noTimeout, timeoutBlind, taskFailedMissesTimeout, functionTimeoutMissed, heartbeatName,
		notIdempotent, expressTwice, childName, mapRetriedWhole, toleranceRetried, hiddenLayers,
		retriesMultiply, retriesOutlast, historyLimit, metastable, retryOutlier,
		catchNeverMatches, dataLimit, exhaustedNotCaught, catchLoop, ignoreUnclear,
	}
}

// RuleNamed returns the rule of a code, which may be written in small letters.
func RuleNamed(code string) (Rule, bool) {
	for _, r := range Rules() {
		if strings.EqualFold(string(r.Code), code) {
			return r, true
		}
	}
	return Rule{}, false
}
