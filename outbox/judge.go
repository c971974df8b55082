package outbox

import (
	"fmt"

	"stepback/retry"
)

// judge decides what a failed attempt means for the message.
func (r *Relay) judge(d *Delivery, err error) Settlement {
	f := FailureOf(err)
	s := Settlement{Held: Held{d.Seq, d.Lease}, Key: d.Key, Status: Dead, Error: f.Name, Cause: f.cause()}
	if f.Class == retry.Permanent || f.Class == "" && retry.IsPermanent(f.Name) {
		if s.Reason = f.Reason; s.Reason == "" {
			s.Reason = ReasonRefused
		}
		return s
	}
	policy := r.cfg.Policy(f.Name)
	limit := r.cfg.MaxRetries
	if limit < 0 {
		limit = policy.MaxAttempts
	}
	retry := d.Retries + 1
	if retry > limit {
		s.Reason = ReasonRetriesExhausted
		return s
	}
	r.drawing.Lock()
	s.After = policy.Delay(retry, r.cfg.Rand)
	r.drawing.Unlock()
	s.Status, s.After = Failed, max(s.After, min(f.RetryAfter, longestRetryAfter))
	return s
}

// expired returns the settlement of a message whose lease has expired too many times. It returns false for any
// other message.
func (r *Relay) expired(d *Delivery) (Settlement, bool) {
	if d.Expiries <= r.cfg.MaxExpiries {
		return Settlement{}, false
	}
	return Settlement{
		Held: Held{
			d.Seq,
			d.Lease,
		}, Key: d.Key, Status: Dead, Error: retry.RuntimeExitError, Reason: ReasonLeaseExpired,
		Cause: fmt.Sprintf("%d leases on it ended without an outcome: the message may be crashing the relays",
			d.Expiries),
	}, true
}

func released(d *Delivery) Settlement {
	return Settlement{Held: Held{d.Seq, d.Lease}, Key: d.Key, Status: Pending}
}

func sent(d *Delivery) Settlement {
	return Settlement{Held: Held{d.Seq, d.Lease}, Key: d.Key, Status: Sent}
}
