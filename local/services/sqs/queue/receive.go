package queue

// Receive hides at most n messages for hidden milliseconds, gives each a receipt, and returns them in got. Messages
// that have already been received as often as the settings allow are removed from the queue instead, and returned
// in dead, at most deadAtOnce of them.
//
// A FIFO queue serves its groups in the order of their first messages, and returns the messages of a group up to the
// first that is not visible. Groups whose messages were received and became visible again follow the others.
func (q *Queue) Receive(now int64, n int, hidden int64, receipt func() uint64) (got, dead []*Message) {
	q.advance(now)
	n = min(n, MaxInFlight-q.inFlight)
	for len(got) < n && len(dead) < deadAtOnce {
		m, ok := q.ready.first()
		if !ok {
			break
		}
		if q.dead(m) {
			q.drop(m)
			dead = append(dead, m)
			continue
		}
		q.ready.remove(m)
		q.handOut(m, now, hidden, receipt())
		got = append(got, m)
	}
	for len(got) < n && len(dead) < deadAtOnce {
		g, ok := q.open.first()
		if !ok {
			break
		}
		if m := g.head; q.dead(m) {
			q.drop(m)
			dead = append(dead, m)
			continue
		}
		q.close(g)
		for m := g.head; m != nil && m.visible() && !q.dead(m) && len(got) < n; m = m.next {
			q.handOut(m, now, hidden, receipt())
			got = append(got, m)
		}
	}
	return got, dead
}

// deadAtOnce is the maximum number of dead messages that one Receive removes.
const deadAtOnce = 100

func (q *Queue) dead(m *Message) bool {
	return q.settings.MaxReceives > 0 && m.Receives >= q.settings.MaxReceives
}

func (q *Queue) handOut(m *Message, now, hidden int64, receipt uint64) {
	m.Receives++
	if m.FirstReceived == 0 {
		m.FirstReceived = now
	}
	q.handed++
	m.turn, m.handed = q.last, q.handed
	m.LastReceived, m.VisibleAt, m.Receipt, m.InFlight = now, now+hidden, receipt, true
	q.hide(m)
}

// Full reports whether no message can be received because MaxInFlight are in flight.
func (q *Queue) Full(now int64) bool {
	q.advance(now)
	return q.inFlight >= MaxInFlight
}

// handed is a message as it was delivered to a receiver.
type handed struct{ seq, receipt uint64 }

// Attempted records the messages that a receive attempt returned.
func (q *Queue) Attempted(now int64, attempt string, got []*Message) {
	q.attempts.expire(now)
	list := make([]handed, len(got))
	for i, m := range got {
		list[i] = handed{m.Seq, m.Receipt}
	}
	q.attempts.put(now, attempt, list)
}

// Again returns the messages that an earlier attempt with the same ID returned, and hides them for hidden
// milliseconds from now. ok is false if there was no such attempt in the last five minutes, or if one of its
// messages is no longer in flight from that attempt.
func (q *Queue) Again(now int64, attempt string, hidden int64) ([]*Message, bool) {
	q.advance(now)
	list, ok := q.attempts.get(now, attempt)
	if !ok || len(list) == 0 {
		return nil, false
	}
	got := make([]*Message, len(list))
	for i, h := range list {
		m := q.messages[h.seq]
		if m == nil || !m.InFlight || m.Receipt != h.receipt {
			return nil, false
		}
		got[i] = m
	}
	for _, m := range got {
		q.pending.remove(m)
		m.VisibleAt = now + hidden
		q.pending.push(m)
	}
	return got, true
}
