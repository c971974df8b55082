// Package price is what retries cost in US dollars: state transitions and Lambda, as of a date and in a region. Prices are data;
// a caller who knows better hands a List of its own.
package price

// List is a price list.
type List struct {
	// Region and AsOf (year-month-day) say where and when the prices were valid.
	Region, AsOf string
	// Transition is one state transition of a standard workflow; a retry is one, too.
	Transition float64
	// Request is one invocation of a Lambda function, GBSecond one second of one GB of its memory.
	Request, GBSecond float64
}

// Default is Standard workflows and Lambda on x86 in us-east-1, without free tiers and discounts.
func Default() List {
	return List{
		Region: "us-east-1", AsOf: "2026-11-01", Transition: 25.0 / 1e6, Request: 0.20 / 1e6, GBSecond: 0.0000166667,
	}
}

// Of is the price of transitions, and of invocations that took the seconds together with the given memory each.
func (l List) Of(transitions, invocations int64, gbSeconds float64) float64 {
	return float64(transitions)*l.Transition + float64(invocations)*l.Request + gbSeconds*l.GBSecond
}
