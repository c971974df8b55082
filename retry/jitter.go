package retry

// Jitter is a strategy for randomising a delay. The zero value means no jitter.
type Jitter string

// The strategies, for a delay d that results from backoff and cap. Step Functions supports only JitterNone and
// JitterFull; compiling to ASL replaces the others by JitterFull and adds a retrypatterns.Note.
const (
	// JitterNone waits exactly d.
	JitterNone Jitter = "NONE"
	// JitterFull waits a uniformly random time in [0, d].
	JitterFull Jitter = "FULL"
	// JitterPartial ("equal jitter") waits d/2 plus a uniformly random time in [0, d/2].
	JitterPartial Jitter = "PARTIAL"
	// JitterDecorrelated waits min(cap, random(base, previous × 3)). base is the policy's interval, and the first
	// previous delay is base. The source documents contain two other formulas, which are wrong: one can never
	// exceed d, and the other lowers the range below base.
	JitterDecorrelated Jitter = "DECORRELATED"
	// JitterProportional waits d plus a uniformly random time in [0, d × JitterFactor]; the sum may exceed the cap,
	// as in its source.
	JitterProportional Jitter = "PROPORTIONAL"
)

// known reports whether j is a known strategy. The empty string is known too; it means JitterNone.
func (j Jitter) known() bool {
	switch j {
	case "", JitterNone, JitterFull, JitterPartial, JitterDecorrelated, JitterProportional:
		return true
	}
	return false
}
