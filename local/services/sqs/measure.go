package sqs

import (
	"time"

	"stepback/aws"
)

// Measured holds the metrics of a queue in AWS/SQS: counts since the last measurement, and the current contents.
type Measured struct {
	Scope aws.Scope
	// Queue is the name of the queue.
	Queue string
	// Sent, Received and Deleted count messages. Empty counts receive requests that returned no message.
	Sent, Received, Deleted, Empty int64
	// Bytes is the total size of the messages sent. Least is the size of the smallest of them, and Most the size of
	// the largest.
	Bytes, Least, Most int64
	// Visible, InFlight and Delayed are the current numbers of messages.
	Visible, InFlight, Delayed int
	// Oldest is the age of the oldest message; 0 if the queue is empty.
	Oldest time.Duration
}

// counted holds the counts of a queue since the last measurement. It is guarded by mu.
type counted struct {
	sent, received, deleted, empty, bytes, least, most int64

	used int64 // last time that something was counted, in milliseconds since 1970
}

// activity is the time for which a queue is measured after its last use, as on AWS.
const activity = 6 * time.Hour

func (c *counted) send(now int64, bytes int) {
	n := int64(bytes)
	if c.sent == 0 || n < c.least {
		c.least = n
	}
	c.sent, c.bytes, c.most, c.used = c.sent+1, c.bytes+n, max(c.most, n), now
}

func (c *counted) receive(now int64, messages int) {
	c.used = now
	if messages == 0 {
		c.empty++
	}
	c.received += int64(messages)
}

func (c *counted) remove(now int64) { c.deleted, c.used = c.deleted+1, now }

// Measure measures the queues that have messages or were used within the last six hours, and resets their counters.
func (s *Service) Measure() []Measured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Measured
	now := s.now()
	for _, q := range s.queues {
		c := &q.counted
		n := q.queue.Counts(now)
		if n.Visible+n.InFlight+n.Delayed == 0 && (c.used == 0 || now-c.used > activity.Milliseconds()) {
			continue
		}
		m := Measured{Scope: q.scope(), Queue: q.Name, Sent: c.sent, Received: c.received, Deleted: c.deleted,
			Empty: c.empty, Bytes: c.bytes, Least: c.least, Most: c.most, Visible: n.Visible, InFlight: n.InFlight,
			Delayed: n.Delayed}
		if sent, ok := q.queue.Oldest(); ok {
			m.Oldest = time.Duration(max(0, now-sent)) * time.Millisecond
		}
		*c = counted{used: c.used}
		all = append(all, m)
	}
	return all
}
