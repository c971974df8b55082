package queue

import (
	"maps"
	"slices"
)

// MaxInFlight is the maximum number of messages of a queue in flight.
const MaxInFlight = 120_000

// Settings holds the attributes of a queue that affect the order and lifetime of its messages.
type Settings struct {
	// FIFO queues deliver the messages of a group in order. While a message of a group is in flight, the messages
	// behind it are not delivered.
	FIFO bool
	// Retention is the time for which messages are kept after they were sent, in milliseconds.
	Retention int64
	// MaxReceives is the number of times a message can be received before Receive returns it as dead; 0 means no
	// limit.
	MaxReceives int
}

// Queue is the state of a queue.
type Queue struct {
	settings Settings

	messages map[uint64]*Message
	ages     order[*Message] // ordered by the time they were sent
	pending  order[*Message] // delayed or in flight, ordered by when they become visible
	ready    order[*Message] // visible messages of a standard queue
	groups   map[string]*group
	open     order[*group] // groups whose first message is visible

	inFlight int
	last     uint64 // highest Seq
	handed   uint64 // number of messages received

	sent     recent[uint64] // sequence numbers by deduplication key
	attempts recent[[]handed]
}

// New returns an empty queue.
func New(s Settings) *Queue {
	bySeq := func(a, b *Message) bool { return a.Seq < b.Seq }
	q := &Queue{messages: map[uint64]*Message{}, groups: map[string]*group{}}
	q.settings = s
	q.ages = order[*Message]{before: func(a, b *Message) bool {
		return a.Sent < b.Sent || a.Sent == b.Sent && a.Seq < b.Seq
	}, place: func(m *Message) *int { return &m.age }}
	q.pending = order[*Message]{before: func(a, b *Message) bool {
		return a.VisibleAt < b.VisibleAt || a.VisibleAt == b.VisibleAt && a.Seq < b.Seq
	}, place: func(m *Message) *int { return &m.pending }}
	q.ready = order[*Message]{before: bySeq, place: func(m *Message) *int { return &m.ready }}
	q.open = order[*group]{before: func(a, b *group) bool { return a.head.before(b.head) },
		place: func(g *group) *int { return &g.place }}
	return q
}

// Set changes the settings. A queue cannot change between FIFO and standard.
func (q *Queue) Set(s Settings) {
	s.FIFO = q.settings.FIFO
	q.settings = s
}

// Put adds a message: a new one, one from another queue, or a stored one. It is hidden until its VisibleAt. Its Seq
// must never have been used in the queue before.
func (q *Queue) Put(m *Message) {
	q.messages[m.Seq] = m
	q.last = max(q.last, m.Seq)
	q.ages.push(m)
	if q.settings.FIFO {
		g := q.groups[m.Group]
		if g == nil {
			g = &group{name: m.Group}
			q.groups[m.Group] = g
		}
		q.close(g) // its head, which determines its order, may change
		g.insert(m)
	}
	if m.InFlight || m.VisibleAt > m.Sent {
		q.hide(m)
	} else {
		q.show(m)
	}
	q.reopen(m.group)
}

// hide hides a message until its VisibleAt.
func (q *Queue) hide(m *Message) {
	q.pending.push(m)
	if m.InFlight {
		q.inFlight++
	}
}

// unhide removes a message from the hidden ones.
func (q *Queue) unhide(m *Message) {
	q.pending.remove(m)
	if m.InFlight {
		m.InFlight = false
		q.inFlight--
	}
}

// show makes a message receivable.
func (q *Queue) show(m *Message) {
	if m.group == nil {
		q.ready.push(m)
	}
}

// close makes a group's messages not receivable.
func (q *Queue) close(g *group) { q.open.remove(g) }

// reopen makes a group's messages receivable or not, depending on their states.
func (q *Queue) reopen(g *group) {
	if g == nil {
		return
	}
	q.open.remove(g)
	switch {
	case g.head == nil:
		delete(q.groups, g.name)
	case g.head.visible():
		q.open.push(g)
	}
}

// advance makes hidden messages visible if their VisibleAt has come.
func (q *Queue) advance(now int64) {
	for {
		m, ok := q.pending.first()
		if !ok || m.VisibleAt > now {
			return
		}
		q.unhide(m)
		q.show(m)
		q.reopen(m.group)
	}
}

// drop removes a message from the queue.
func (q *Queue) drop(m *Message) {
	delete(q.messages, m.Seq)
	q.ages.remove(m)
	q.ready.remove(m)
	if m.pending != 0 {
		q.unhide(m)
	}
	if g := m.group; g != nil {
		q.close(g)
		g.remove(m)
		q.reopen(g)
	}
}

// Expire removes the messages whose retention period is over, and returns them.
func (q *Queue) Expire(now int64) (expired []*Message) {
	for {
		m, ok := q.ages.first()
		if !ok || m.Sent+q.settings.Retention > now {
			return expired
		}
		q.drop(m)
		expired = append(expired, m)
	}
}

// Purge removes all messages and deduplication keys, and returns them.
func (q *Queue) Purge() (messages []*Message, duplicates []string) {
	messages, duplicates = q.ages.list, slices.Sorted(maps.Keys(q.sent.values))
	last := q.last
	*q = *New(q.settings)
	q.last = last
	return messages, duplicates
}

// Take removes at most n receivable messages, in order, and returns them.
func (q *Queue) Take(now int64, n int) (taken []*Message) {
	q.advance(now)
	for len(taken) < n {
		m, ok := q.ready.first()
		if g, has := q.open.first(); has {
			m, ok = g.head, true
		}
		if !ok {
			break
		}
		q.drop(m)
		taken = append(taken, m)
	}
	return taken
}

// Oldest returns the time at which the oldest message was sent, in milliseconds since 1970. ok is false if the
// queue is empty.
func (q *Queue) Oldest() (sent int64, ok bool) {
	m, ok := q.ages.first()
	if !ok {
		return 0, false
	}
	return m.Sent, true
}

// Counts holds the numbers of messages in a queue.
type Counts struct{ Visible, InFlight, Delayed int }

// Counts counts the messages.
func (q *Queue) Counts(now int64) Counts {
	q.advance(now)
	return Counts{
		Visible: len(q.messages) - len(q.pending.list), InFlight: q.inFlight,
		Delayed: len(q.pending.list) - q.inFlight,
	}
}

// Next returns the next time at which a hidden message becomes visible. ok is false if none is hidden.
func (q *Queue) Next(now int64) (int64, bool) {
	q.advance(now)
	m, ok := q.pending.first()
	if !ok {
		return 0, false
	}
	return m.VisibleAt, true
}
