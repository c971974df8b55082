package review

import (
	"strings"

	"stepback/asl"
)

// Rule is one kind of finding.
type Rule struct {
	// Code identifies the rule, such as NO_JITTER.
	Code asl.Code
	// Severity is ERROR for what will fail as written, WARNING for what will fail under stress, ADVICE for what is
	// worth knowing.
	Severity asl.Severity
	// Title describes in one line what the rule finds.
	Title string
	// Why explains what happens, what to do instead, and where that is documented.
	Why string

	check func(s *subject)
}

// Rules returns the rules in the order of the documentation. The slice is a copy.
func Rules() []Rule {
	return []Rule{
		retrierNeverMatches, permanentRetried, everythingRetried, lambdaFaults, serviceFaults, httpCodes,
		noJitter, fixedInterval, noCap, tooManyRetries, capBelowInterval, zeroOnAll, throttleBackoff, fullJitterShort,
		noTimeout, timeoutBlind, taskFailedMissesTimeout, functionTimeoutMissed, heartbeatName,
		notIdempotent, expressTwice, childName, mapRetriedWhole, toleranceRetried, hiddenLayers,
		retriesMultiply, retriesOutlast, historyLimit, metastable, retryOutlier,
		catchNeverMatches, dataLimit, exhaustedNotCaught, retriedNotCaught, unprotectedCompensation, catchLoop,
		ignoreUnclear,
	}
}

// RuleNamed returns the rule with a code, ignoring case; ok is false if there is none.
func RuleNamed(code string) (Rule, bool) {
	for _, r := range Rules() {
		if strings.EqualFold(string(r.Code), code) {
			return r, true
		}
	}
	return Rule{}, false
}
