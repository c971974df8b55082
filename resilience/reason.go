package resilience

import (
	"errors"

	"stepback/retry"
)

// ends maps the reasons for ending a call to values of retry.AttributeEnd.
var ends = []struct {
	reason error
	end    string
}{
	{ErrExhausted, retry.EndExhausted}, {ErrPermanent, retry.EndPermanent}, {ErrUnclassified, retry.EndUnclassified},
	{ErrNotIdempotent, retry.EndNotIdempotent}, {ErrConflict, retry.EndConflict}, {ErrNoRetrier, retry.EndNoPolicy},
	{ErrDeadline, retry.EndDeadline}, {ErrRetryAfter, retry.EndPushback}, {ErrPushback, retry.EndPushback},
	{ErrBudget, retry.EndBudget}, {ErrCircuitOpen, retry.EndCircuitOpen}, {ErrLimited, retry.EndLimited},
	{ErrBulkheadFull, retry.EndLimited}, {ErrQueueTimeout, retry.EndLimited}, {ErrCancelled, retry.EndCancelled},
}

// End returns the reason why no further attempt was made, as a value of [retry.AttributeEnd]. A reason of the
// operation's own ([Call].Final) is [retry.EndGivenUp].
func (e *Error) End() string {
	for _, known := range ends {
		if errors.Is(e.Stop, known.reason) {
			return known.end
		}
	}
	return retry.EndGivenUp
}
