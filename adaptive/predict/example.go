package predict

import (
	"math"
	"time"
)

// Example is one attempt that followed a failed one, as it was known before it began, and how it ended.
type Example struct {
	// At is when it began; Execution is whose it was. Attempts of one execution are not independent.
	At        time.Time `json:"at"`
	Execution string    `json:"execution"`
	// Error is the name of the error before it, Attempt its number: 1 for the first retry.
	Error   string `json:"error"`
	Attempt int    `json:"attempt"`
	// SinceFirst is the time since the first failure, in seconds.
	SinceFirst float64 `json:"sinceFirst"`
	// FailureRate is the callee's of late, 0 to 1; Load its load against its limit, 0 to 1. NaN is written as null.
	FailureRate *float64 `json:"failureRate"`
	Load        *float64 `json:"load"`
	// Bytes is the size of the payload.
	Bytes *float64 `json:"bytes"`
	// Repeated tells that the same item failed with the same error twice before: it may never succeed.
	Repeated bool `json:"repeated,omitempty"`
	// Succeeded is how it ended.
	Succeeded bool `json:"succeeded"`
}

// FeatureNames are the seven features of the source's model, in this project's terms, and an eighth; the hour
// of the day is two numbers, so that midnight is next to midnight.
var FeatureNames = []string{
	"error", "attempt", "sinceFirst", "failureRate", "load", "hourSin", "hourCos", "bytes", "repeated",
}

// features are the numbers of an example; false when one is missing or no number. The error becomes its rate of success
// among the training data, shrunk.
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
