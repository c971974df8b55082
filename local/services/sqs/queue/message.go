package queue

// Message is the state of a message in a queue. Times are in milliseconds since 1970. The messages that methods
// return belong to the queue: callers must not modify them, and must not use them after the call in which they
// received them.
type Message struct {
	// Seq is the message's position in the queue. Body is the number under which its contents are stored. Origin is
	// the number from which its ID is derived. All three are equal when the message is sent; a move to another
	// queue changes its Seq.
	Seq, Body, Origin uint64
	// Group is the message group; empty in a standard queue unless the sender set one.
	Group string
	// Source is the ARN of the queue that moved the message to this dead-letter queue; empty if it was sent
	// here.
	Source string

	Sent          int64 // when it was sent; kept by moves to dead-letter queues of standard queues
	Receives      int   // how often it has been received
	FirstReceived int64 // 0 until received
	LastReceived  int64 // 0 until received
	VisibleAt     int64 // the end of its delay or visibility timeout
	InFlight      bool  // received, and not visible again yet
	Receipt       uint64

	// turn and handed order the groups of a FIFO queue. handed counts receives, and is 0 for a message that has not
	// been received since the queue was opened; turn is then the last position in the queue at that time.
	turn, handed uint64

	ready, pending, age int // positions in heaps
	group               *group
	previous, next      *Message // neighbours in the group's list
}

// before reports whether a group with the first message m is served before one with the first message o: in the order
// in which the messages were sent, where a message that was received before counts as sent when it was received.
func (m *Message) before(o *Message) bool {
	a, b := m.turn, o.turn
	if m.handed == 0 {
		a = m.Seq
	}
	if o.handed == 0 {
		b = o.Seq
	}
	return a < b || a == b && m.handed < o.handed
}

// visible reports whether the message was neither delayed nor in flight at the last advance.
func (m *Message) visible() bool { return m.pending == 0 }

// group holds the messages of a message group of a FIFO queue, in order.
type group struct {
	name       string
	head, tail *Message
	place      int // position in the heap of receivable groups
}

func (g *group) insert(m *Message) {
	m.group = g
	after := g.tail // usually it comes last
	for after != nil && after.Seq > m.Seq {
		after = after.previous
	}
	m.previous = after
	if after == nil {
		m.next, g.head = g.head, m
	} else {
		m.next, after.next = after.next, m
	}
	if m.next == nil {
		g.tail = m
	} else {
		m.next.previous = m
	}
}

func (g *group) remove(m *Message) {
	if m.previous == nil {
		g.head = m.next
	} else {
		m.previous.next = m.next
	}
	if m.next == nil {
		g.tail = m.previous
	} else {
		m.next.previous = m.previous
	}
	m.previous, m.next, m.group = nil, nil, nil
}
