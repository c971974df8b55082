package queue

// Message is what a queue knows of a message. Instants are milliseconds since 1970. What Send and the others return is
// the queue's own: callers read it and do not keep it beyond their call.
type Message struct {
	// Seq is the message's place in the queue, Body the number under which its contents are kept, Origin the number of
	// which its ID is made. All three are the same when it is sent; a move to another queue changes its Seq.
	Seq, Body, Origin uint64
	// Group is the message group; empty in a standard queue unless the sender named one.
	Group string
	// Source is the ARN of the queue from which it came into this dead-letter queue; empty for one that was sent here.
	Source string

	Sent          int64 // when it was sent; moves to dead-letter queues of standard queues keep it
	Receives      int   // how often it has been received
	FirstReceived int64 // 0 before
	LastReceived  int64 // 0 before
	VisibleAt     int64 // until when it is delayed or hidden
	InFlight      bool  // it has been received, and has not become visible again
	Receipt       uint64

	ready, pending, age int // places in heaps
	group               *group
	previous, next      *Message // in the group
}

// visible reports whether the message is neither delayed nor in flight, as far as the queue has noticed.
func (m *Message) visible() bool { return m.pending == 0 }

// group is the messages of one group of a FIFO queue, in their order.
type group struct {
	name       string
	head, tail *Message
	inFlight   int
	place      int // in the heap of the groups that can be received
}

func (g *group) insert(m *Message) {
	m.group = g
	after := g.tail // it usually comes last
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
