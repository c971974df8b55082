package scenario

import (
	"time"

	"stepback/internal/strictyaml"
	"stepback/retry"
)

// Policy parses the members interval, rate, maxDelay, maxAttempts, jitter and jitterFactor of an object. The
// defaults are those of a Step Functions retrier, except that attempts is the default of maxAttempts.
func Policy(o strictyaml.Object, attempts int) retry.Policy {
	const longest = 366 * 24 * time.Hour
	return retry.Policy{
		Interval:    o.Get("interval").DurationOr(time.Second, time.Millisecond, longest),
		Rate:        o.Get("rate").NumberOr(2, 1, 1000),
		MaxDelay:    o.Get("maxDelay").DurationOr(0, time.Millisecond, longest),
		MaxAttempts: o.Get("maxAttempts").WholeOr(attempts, 0, 99_999_999),
		Jitter: retry.Jitter(o.Get("jitter").OneOf(
			string(retry.JitterNone), string(retry.JitterFull), string(retry.JitterPartial),
			string(retry.JitterDecorrelated), string(retry.JitterProportional),
		)),
		JitterFactor: o.Get("jitterFactor").NumberOr(0, 0, 1),
	}
}
