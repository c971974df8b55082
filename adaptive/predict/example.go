package predict

import (
	"math"
	"time"
)

// Example is one attempt that followed a failed one: its features before it began, and its outcome.
type Example struct {
	// At is when the attempt began. Execution is the execution that the attempt belongs to; attempts of one
	// execution are not independent.
	At        time.Time `json:"at"`
	Execution string    `json:"execution"`
	// Error is the name of the preceding error. Attempt is the attempt's number: 1 for the first retry.
	Error   string `json:"error"`
	Attempt int    `json:"attempt"`
	// SinceFirst is the time since the first failure, in seconds.
	SinceFirst float64 `json:"sinceFirst"`
	// FailureRate is the callee's recent failure rate, and Load its load relative to its limit. Both are 0 to 1.
	// NaN is written as null.
	FailureRate *float64 `json:"failureRate"`
	Load        *float64 `json:"load"`
	// Bytes is the size of the payload.
	Bytes *float64 `json:"bytes"`
	// Repeated is true if the same item failed with the same error twice before: it may never succeed.
	Repeated bool `json:"repeated,omitempty"`
	// Succeeded is the outcome of the attempt.
	Succeeded bool `json:"succeeded"`
}

// FeatureNames lists the features: the seven of the source's model, in this project's terms, and "repeated". The
// hour of the day is two numbers, so that the end of a day is close to the start of the next.
var FeatureNames = []string{
	"error", "attempt", "sinceFirst", "failureRate", "load", "hourSin", "hourCos", "bytes", "repeated",
}

// features returns the example's features as numbers; ok is false if one is missing or NaN. The error's number is
// its success rate in the training data, shrunk towards the base rate.
func (e *Example) features(errorRate func(string) float64) ([]float64, bool) {
	if e.FailureRate == nil || e.Load == nil || e.Bytes == nil || e.Error == "" || e.At.IsZero() {
		return nil, false
	}
	hour := float64(e.At.UTC().Hour()) + float64(e.At.UTC().Minute())/60
	repeated := 0.0
	if e.Repeated {
		repeated = 1
	}
	x := []float64{
		errorRate(e.Error), math.Log(float64(max(e.Attempt, 1))), math.Log1p(max(e.SinceFirst, 0)), *e.FailureRate,
		*e.Load,
		math.Sin(hour * math.Pi / 12), math.Cos(hour * math.Pi / 12), math.Log1p(max(*e.Bytes, 0)), repeated,
	}
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
	}
	return x, true
}
