package asl

import "stepback/jsonvalue"

// Defaults and bounds of a retrier's fields, from the developer guide's page on error handling.
const (
	defaultInterval    = 1
	defaultMaxAttempts = 3
	defaultBackoffRate = 2.0
	maxDelay           = 31_622_400 // seconds, 366 days
)

var (
	retryAttempts = limits{min: 0, max: maxSeconds}
	retryDelay    = limits{min: 1, max: maxDelay}
	backoffRate   = limits{min: 1, decimal: true}
)

// retriers decodes the Retry array of the state at the current path.
func (d *decoder) retriers(o object) []Retrier {
	var retriers []Retrier
	retry, _ := o.get("Retry")
	o.each("Retry", func(i int, v jsonvalue.Value) {
		if r, ok := d.object(v, retrierFields, o.language); ok {
			retriers = append(retriers, d.retrier(r, i == retry.Len()-1))
		}
	})
	return retriers
}

func (d *decoder) retrier(o object, last bool) Retrier {
	o.require("ErrorEquals")
	return Retrier{
		ErrorEquals:     d.errorEquals(o, last),
		IntervalSeconds: o.integer("IntervalSeconds", positiveSeconds, defaultInterval),
		MaxAttempts:     o.integer("MaxAttempts", retryAttempts, defaultMaxAttempts),
		BackoffRate:     o.rate("BackoffRate"),
		MaxDelaySeconds: o.integer("MaxDelaySeconds", retryDelay, 0),
		FullJitter:      o.choice("JitterStrategy", "NONE", "FULL") == "FULL",
		Comment:         o.str("Comment"),
	}
}

func (o object) rate(key string) float64 {
	v, ok := o.get(key)
	if !ok {
		return defaultBackoffRate
	}
	o.d.enter(key)
	defer o.d.leave()
	backoffRate.check(o.d, v)
	return v.Float()
}
