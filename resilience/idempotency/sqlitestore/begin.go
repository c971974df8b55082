package sqlitestore

import (
	"time"

	"stepback/resilience/idempotency"
)

// begin claims a key in the writer's transaction, during which no other writer exists.
func (w *writer) begin(c idempotency.Claim) (idempotency.Standing, error) {
	if c.Fingerprint == nil {
		c.Fingerprint = []byte{} // the driver stores nil as NULL
	}
	n, err := w.change(w.insert, c.Key, c.Fingerprint, c.Token, c.Until.UnixMilli(), c.Expires.UnixMilli(),
		c.Until.Sub(c.Now).Milliseconds())
	if n > 0 || err != nil {
		return idempotency.Standing{State: idempotency.Claimed}, err
	}
	r, err := w.read(c.Key)
	if err != nil {
		return idempotency.Standing{}, err
	}
	now := c.Now.UnixMilli()
	end, changed := c.ShortenLease(time.UnixMilli(r.lease), time.Duration(r.lasts)*time.Millisecond)
	if changed && !r.done {
		r.lease = end.UnixMilli()
		if _, err := w.change(w.extend, r.lease, c.Key, r.token); err != nil {
			return idempotency.Standing{}, err
		}
	}
	claimed := idempotency.Standing{State: idempotency.Claimed}
	switch {
	case r.expires <= now && (r.done || r.lease <= now): // a running key does not expire
	case r.fingerprint != string(c.Fingerprint):
		return idempotency.Standing{State: idempotency.Mismatched}, nil
	case r.done:
		return idempotency.Standing{State: idempotency.Done, Answer: r.answer}, nil
	case r.token == c.Token: // the same claim, requested again
	case r.lease > now:
		return idempotency.Standing{State: idempotency.Running, Until: time.UnixMilli(r.lease)}, nil
	default:
		claimed.TakenOver = true
	}
	_, err = w.change(w.replace, c.Fingerprint, c.Token, c.Until.UnixMilli(), c.Expires.UnixMilli(),
		c.Until.Sub(c.Now).Milliseconds(), c.Key)
	return claimed, err
}

// finished returns 1 if the claim with this token has already finished the key, and 0 otherwise.
func (w *writer) finished(key, token string) (int64, error) {
	r, err := w.read(key)
	if r.done && r.token == token {
		return 1, err
	}
	return 0, err
}
