package retrymetrics

import (
	"cmp"
	"slices"

	"stepback/engine/history"
)

// chain is the state that a [LogReader] keeps of one execution.
type chain struct {
	only      string // the state's name if records do not contain it
	unordered bool   // log level ERROR: previous events are not logged
	links     map[int64]link
	seen      idSet              // records received
	applied   idSet              // records counted
	n         int64              // number of records received
	held      map[int64][]Record // records by their previous event, which has not been received
	heldCount int
	lost      map[int64]bool // previous events that were given up
	end       int64          // ID of the terminal event; 0 until it is received
	endTime   int64
	since     moment // when the last record arrived, if the execution lacks some
}

// moment is a position in what a reader has read; the zero value is none.
type moment struct {
	at    int64 // the newest record's time
	reads int64
}

// link is the state of an attempt: its state was entered, it is running, or it has failed.
type link struct {
	state string
	n     int  // number of the attempt within its task; 0 if it is unknown or none has started
	retry *Key // the failure that the attempt follows
	fail  *failure
}

func (c *chain) waiting() int { return c.heldCount }

// complete reports whether every event up to the terminal one has been counted.
func (c *chain) complete() bool { return c.end > 0 && c.heldCount == 0 && c.n >= c.end && !c.unordered }

// take counts a record and the records that were held for it, or holds it.
func (c *chain) take(t *teller, e *Record) {
	if c.seen.add(e.ID) {
		return
	}
	c.n++
	if e.Type.Terminal() {
		t.terminal(e.Execution, e.Type, e.Error, e.Time)
		if !c.unordered {
			c.end, c.endTime = e.ID, e.Time
		}
	}
	if !c.unordered && e.Previous > 0 && !c.applied.has(e.Previous) && !c.lost[e.Previous] {
		if c.held == nil {
			c.held = map[int64][]Record{}
		}
		c.held[e.Previous] = append(c.held[e.Previous], *e)
		c.heldCount++
		return
	}
	for next := []Record{*e}; len(next) > 0; {
		one := next[0]
		c.apply(t, &one)
		next = append(next[1:], c.held[one.ID]...)
		c.heldCount -= len(c.held[one.ID])
		delete(c.held, one.ID)
	}
}

func (c *chain) apply(t *teller, e *Record) {
	c.applied.add(e.ID)
	c.event(t, e)
	if c.lost[e.ID] { // the records after it have already been counted
		delete(c.lost, e.ID)
		delete(c.links, e.ID)
	}
}

// release counts the held records without the records they were held for.
func (c *chain) release(t *teller) {
	var all []Record
	for previous, records := range c.held {
		if !c.seen.has(previous) {
			if c.lost == nil {
				c.lost = map[int64]bool{}
			}
			c.lost[previous] = true
			c.unpaired(t, records[0].Time, 1)
		}
		all = append(all, records...)
	}
	c.held, c.heldCount = nil, 0
	slices.SortFunc(all, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	for i := range all {
		c.apply(t, &all[i])
	}
}

// unpaired counts n missing records.
func (c *chain) unpaired(t *teller, at, n int64) {
	t.add(UnpairedEvents, Labels{StateMachine: t.machine}, at, float64(n))
}

// close counts the failures that nothing followed, and the records that were not received.
func (c *chain) close(t *teller) {
	for _, l := range c.links {
		if l.fail != nil {
			t.ended(*l.fail)
		}
	}
	if lack := c.end - c.n - int64(len(c.lost)); lack > 0 && c.end <= maxEvents {
		c.unpaired(t, c.endTime, lack)
	}
}

// abandon counts the failures for which it will never be known what followed.
func (c *chain) abandon(t *teller) {
	for _, l := range c.links {
		if l.fail != nil && !c.unordered {
			c.unpaired(t, l.fail.at, 1)
		}
	}
}

func (c *chain) event(t *teller, e *Record) {
	before := c.links[e.Previous]
	at := stepOf(e.Type)
	if before.fail != nil && at != scheduled {
		t.ended(*before.fail) // the failure is followed by something other than a retry
		delete(c.links, e.Previous)
	}
	switch at {
	case scheduled:
		c.scheduled(t, e, before)
	case started:
		c.move(e, before)
	case succeeded:
		delete(c.links, e.Previous)
		t.succeeded(c.state(before), e.Time, before.n)
		if before.retry != nil {
			t.recovered(*before.retry, e.Time)
		}
	case failed:
		c.failed(t, e, before)
	case elsewhere:
		if e.Type == history.TaskStateEntered {
			c.links[e.ID] = link{state: e.Name}
		}
	}
}

func (c *chain) state(l link) string { return cmp.Or(l.state, c.only) }

// move moves a link to its next event.
func (c *chain) move(e *Record, l link) {
	delete(c.links, e.Previous)
	c.links[e.ID] = l
}

func (c *chain) scheduled(t *teller, e *Record, before link) {
	t.attempted(c.state(before), e.Time)
	next := link{state: before.state}
	switch {
	case before.fail != nil:
		t.retried(*before.fail, e.Time)
		next.retry = &before.fail.key
		if before.n > 0 {
			next.n = before.n + 1
		}
	case before.state != "":
		next.n = 1
	}
	c.move(e, next)
}

func (c *chain) failed(t *teller, e *Record, before link) {
	f := failure{key: Key{c.state(before), e.Error}, at: e.Time, timedOut: timedOut(e.Type), attempt: before.n,
		after: before.retry}
	t.failed(f)
	c.move(e, link{state: before.state, n: before.n, fail: &f})
}

// idSet is a set of event IDs; an execution has at most maxEvents.
type idSet []uint64

const maxEvents = 25_000

// add adds an ID and reports whether it was already present. An ID out of range is never present.
func (s *idSet) add(id int64) bool {
	if id < 0 || id > maxEvents {
		return false
	}
	word, bit := int(id/64), uint64(1)<<(id%64)
	for len(*s) <= word {
		*s = append(*s, 0)
	}
	had := (*s)[word]&bit != 0
	(*s)[word] |= bit
	return had
}

// has reports whether an ID is present. An ID out of range counts as present, so that nothing waits for it.
func (s *idSet) has(id int64) bool {
	if id < 0 || id > maxEvents {
		return true
	}
	word := int(id / 64)
	return word < len(*s) && (*s)[word]&(uint64(1)<<(id%64)) != 0
}
