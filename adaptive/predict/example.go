package predict

import (
	"math"
	"slices"
	"time"
)

// Example is one retry: what was known when the failure before it ended, and its outcome.
type Example struct {
	// At is when the failure before the retry ended, which is when the retry is decided. Execution is the execution
	// that the retry belongs to.
	At        time.Time `json:"at"`
	Execution string    `json:"execution"`
	// Error is the name of the preceding error. Attempt is the retry's number: 1 for the first retry.
	Error   string `json:"error"`
	Attempt int    `json:"attempt"`
	// SinceFirst is the time from the start of the task's first attempt to At, in seconds.
	SinceFirst float64 `json:"sinceFirst"`
	// FailureRate is the share of the callee's other recent calls that failed by load. Load is the share of recent
	// requests that limiter or breaker deferred. Both are 0 to 1. FailingFor is the time in seconds since one of its
	// calls succeeded. Bytes is the size of the payload. nil means unknown, and is written as null.
	FailureRate *float64 `json:"failureRate"`
	Load        *float64 `json:"load"`
	FailingFor  *float64 `json:"failingFor"`
	Bytes       *float64 `json:"bytes"`
	// Succeeded is the outcome of the retry.
	Succeeded bool `json:"succeeded"`
}

// FeatureNames lists the numbers that the logistic regression and the forest use. The hour of the day is none of them:
// histories cover too few days to tell it from the outages that happened in them, and the last part of a history has
// hours that the first part lacks.
var FeatureNames = []string{
	"errorOdds", "retryOdds", "attempt", "sinceFirst", "sinceFirstSquared", "failureRate", "failureRateUnknown",
	"failing×sinceFirst", "failingFor", "failingForUnknown", "load", "loadUnknown", "bytes", "bytesUnknown",
}

// optional are the members of an example that may be unknown.
var optional = []string{"failureRate", "load", "failingFor", "bytes"}

// known returns an optional member, and false if it is nil or no finite number.
func (e *Example) known(member string) (float64, bool) {
	p := map[string]*float64{"failureRate": e.FailureRate, "load": e.Load, "failingFor": e.FailingFor, "bytes": e.Bytes}[member]
	if p == nil || math.IsNaN(*p) || math.IsInf(*p, 0) {
		return 0, false
	}
	return *p, true
}

// features returns the example's features as numbers. An optional member that is unknown, or not among the given
// ones, is 0 with an indicator of 1. ok is false if the error or the time is missing.
func (e *Example) features(rates *Rates, given []string) (x []float64, ok bool) {
	if e.Error == "" || math.IsNaN(e.SinceFirst) || math.IsInf(e.SinceFirst, 0) {
		return nil, false
	}
	get := func(member string) (value, unknown float64) {
		if v, ok := e.known(member); ok && slices.Contains(given, member) {
			return v, 0
		}
		return 0, 1
	}
	since := math.Log1p(max(e.SinceFirst, 0))
	failing, failingUnknown := get("failureRate")
	failingFor, failingForUnknown := get("failingFor")
	load, loadUnknown := get("load")
	bytes, bytesUnknown := get("bytes")
	return []float64{
		logit(rates.ofError(e.Error)), logit(rates.of(e.Error, e.Attempt)), math.Log(float64(max(e.Attempt, 1))), since,
		since * since, failing, failingUnknown, failing * since, math.Log1p(max(failingFor, 0)), failingForUnknown,
		load, loadUnknown,
		math.Log1p(max(bytes, 0)), bytesUnknown,
	}, true
}
