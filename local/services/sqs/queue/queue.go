package queue

// MaxInFlight is how many messages of a queue may be in flight.
const MaxInFlight = 120_000

// Settings are what the attributes of a queue say of the order and the lives of its messages.
type Settings struct {
	// FIFO queues hand out the messages of a group in their order, and none while another one is in flight.
	FIFO bool
	// Retention is how long messages are kept after they were sent, in milliseconds.
	Retention int64
	// MaxReceives is how often a message is received before Receive finds it dead; 0 means as often as it takes.
	MaxReceives int
}

// Queue is the state of a queue.
type Queue struct {
	settings Settings

	messages map[uint64]*Message
	ages     order[*Message] // by when they were sent
	pending  order[*Message] // delayed or in flight, by when they become visible
	ready    order[*Message] // visible, of a standard queue
	groups   map[string]*group
	open     order[*group] // whose first message is visible while none is in flight

	inFlight int

	sent     recent[uint64] // sequence numbers by deduplication key
	attempts recent[[]handed]
}

// New makes an empty queue.
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
	q.open = order[*group]{before: func(a, b *group) bool { return a.head.Seq < b.head.Seq },
		place: func(g *group) *int { return &g.place }}
	return q
}

// Set changes the settings; a queue stays FIFO or standard.
func (q *Queue) Set(s Settings) {
	s.FIFO = q.settings.FIFO
	q.settings = s
}

// Put takes a message up: a new one, one that comes from another queue, or one that was kept. It is hidden until its
// VisibleAt. Its Seq must be one that the queue has not had.
func (q *Queue) Put(m *Message) {
	q.messages[m.Seq] = m
	q.ages.push(m)
	if q.settings.FIFO {
		g := q.groups[m.Group]
		if g == nil {
			g = &group{name: m.Group}
			q.groups[m.Group] = g
		}
		q.close(g) // its head may change, by which it is ordered
		g.insert(m)
	}
	if m.InFlight || m.VisibleAt > m.Sent {
		q.hide(m)
	} else {
		q.show(m)
	}
	q.reopen(m.group)
}

// hide has a message wait for its VisibleAt.
func (q *Queue) hide(m *Message) {
	q.pending.push(m)
	if m.InFlight {
		q.inFlight++
		if m.group != nil {
			m.group.inFlight++
		}
	}
}

// unhide takes a message out of those that wait.
func (q *Queue) unhide(m *Message) {
	q.pending.remove(m)
	if m.InFlight {
		m.InFlight = false
		q.inFlight--
		if m.group != nil {
			m.group.inFlight--
		}
	}
}

// show makes a message one that can be received.
func (q *Queue) show(m *Message) {
	if m.group == nil {
		q.ready.push(m)
	}
}

// close takes a group out of those that can be received.
func (q *Queue) close(g *group) { q.open.remove(g) }

// reopen puts a group where its messages say that it belongs.
func (q *Queue) reopen(g *group) {
	if g == nil {
		return
	}
	q.open.remove(g)
	switch {
	case g.head == nil:
		delete(q.groups, g.name)
	case g.inFlight == 0 && g.head.visible():
		q.open.push(g)
	}
}

// advance makes visible what has become so.
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

// drop takes a message out of the queue.
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

// Expire takes out the messages whose retention is over, and returns them.
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

// Purge takes all messages out, and returns them.
func (q *Queue) Purge() []*Message {
	all := q.ages.list
	empty := New(q.settings)
	empty.sent = q.sent
	*q = *empty
	return all
}

// Take takes at most n messages out that can be received, in their order, and returns them.
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

// Oldest is when the oldest message was sent, in milliseconds since 1970. It reports false of an empty queue.
func (q *Queue) Oldest() (sent int64, ok bool) {
	m, ok := q.ages.first()
	if !ok {
		return 0, false
	}
	return m.Sent, true
}

// Counts are how many messages a queue has.
type Counts struct{ Visible, InFlight, Delayed int }

// Counts counts the messages.
func (q *Queue) Counts(now int64) Counts {
	q.advance(now)
	return Counts{
		Visible: len(q.messages) - len(q.pending.list), InFlight: q.inFlight,
		Delayed: len(q.pending.list) - q.inFlight,
	}
}

// Next is the next instant at which a hidden message becomes visible. It reports false when none is hidden.
func (q *Queue) Next(now int64) (int64, bool) {
	q.advance(now)
	m, ok := q.pending.first()
	if !ok {
		return 0, false
	}
	return m.VisibleAt, true
}
