package queue

import "errors"

// What is wrong with a receipt.
var (
	// ErrExpired is that of a message of a FIFO queue that has become visible again, or was received again.
	ErrExpired = errors.New("the receipt handle has expired")
	// ErrGone is that of a message that is no longer in the queue.
	ErrGone = errors.New("the message is not in the queue")
	// ErrNotInFlight is that of a message that has become visible again.
	ErrNotInFlight = errors.New("the message is not in flight")
	// ErrTooLong is that of a message that would be hidden for more than twelve hours after it was received.
	ErrTooLong = errors.New("the message would be hidden for more than twelve hours")
)

// Delete takes a message out and returns it; nil when it is not there. A standard queue takes any receipt of the
// message, a FIFO queue the last one only, while it is in flight: else the error is ErrExpired.
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

// MaxHidden is how long a message may be hidden after it was received, in milliseconds.
const MaxHidden = 12 * 60 * 60 * 1000

// Hide has a message that is in flight be hidden for the given milliseconds from now on; 0 makes it visible at once.
// The error is ErrGone, ErrNotInFlight, ErrExpired or ErrTooLong.
func (q *Queue) Hide(now int64, seq, receipt uint64, hidden int64) (*Message, error) {
	q.advance(now)
	m := q.messages[seq]
	switch {
	case m == nil:
		return nil, ErrGone
	case !m.InFlight:
		return nil, ErrNotInFlight
	case q.settings.FIFO && m.Receipt != receipt:
		return nil, ErrExpired
	case now+hidden-m.LastReceived > MaxHidden:
		return nil, ErrTooLong
	}
	q.pending.remove(m)
	m.VisibleAt = now + hidden
	q.pending.push(m)
	q.advance(now)
	return m, nil
}
