package queue

import "errors"

// The errors of receipts.
var (
	// ErrExpired is returned for a message of a FIFO queue that has become visible or was received again.
	ErrExpired = errors.New("the receipt handle has expired")
	// ErrGone is returned for a message that is no longer in the queue.
	ErrGone = errors.New("the message is not in the queue")
	// ErrNotInFlight is returned for a message of a FIFO queue that has become visible again.
	ErrNotInFlight = errors.New("the message is not in flight")
	// ErrTooLong is returned if a message would be hidden for more than twelve hours after it was received.
	ErrTooLong = errors.New("the message would be hidden for more than twelve hours")
)

// Delete removes a message and returns it, or returns nil if it does not exist. A standard queue accepts any receipt
// of the message. A FIFO queue accepts only the last one, while the message is in flight; otherwise the error is
// ErrExpired.
func (q *Queue) Delete(now int64, seq, receipt uint64) (*Message, error) {
	q.advance(now)
	m := q.messages[seq]
	if m == nil {
		return nil, nil
	}
	if q.settings.FIFO && (!m.InFlight || m.Receipt != receipt) {
		return nil, ErrExpired
	}
	q.drop(m)
	return m, nil
}

// MaxHidden is the maximum time that a message may be hidden after it was received, in milliseconds.
const MaxHidden = 12 * 60 * 60 * 1000

// Hide hides a message that was received for hidden milliseconds from now; 0 makes it visible at once. In a standard
// queue, a message that has become visible again is hidden once more. The error is ErrGone, ErrNotInFlight, ErrExpired
// or ErrTooLong.
func (q *Queue) Hide(now int64, seq, receipt uint64, hidden int64) (*Message, error) {
	q.advance(now)
	m := q.messages[seq]
	switch {
	case m == nil:
		return nil, ErrGone
	case q.settings.FIFO && !m.InFlight:
		return nil, ErrNotInFlight
	case q.settings.FIFO && m.Receipt != receipt:
		return nil, ErrExpired
	case now+hidden-m.LastReceived > MaxHidden:
		return nil, ErrTooLong
	}
	if m.VisibleAt = now + hidden; m.InFlight {
		q.pending.remove(m)
		q.pending.push(m)
	} else {
		q.ready.remove(m)
		m.InFlight = true
		q.hide(m)
	}
	q.advance(now)
	return m, nil
}
