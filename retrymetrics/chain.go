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
	attempts  history.AttemptReader
	punctual  punctual
	seen      idSet              // records received
	applied   idSet              // records counted
	n         int64              // number of records received
	held      map[int64][]Record // records by their previous event, which has not been received
	heldCount int
	lost      map[int64]bool // previous events that were given up
	end       int64          // ID of the terminal event; 0 until it is received
	endTime   int64
	succeeded bool   // the terminal event is ExecutionSucceeded
	redriven  int64  // ID of the latest ExecutionRedriven event received
	uncut     int64  // time of an end whose cut-off attempts have not been counted; 0 if there is none
	since     moment // when the last record arrived, if the execution lacks some
}

// moment is a point in a reader's progress; the zero value means none.
type moment struct {
	at    int64 // the newest record's time
	reads int64
}

func (c *chain) waiting() int { return c.heldCount }

// complete reports whether every event of the execution has been counted, including the terminal one.
func (c *chain) complete() bool { return c.end > 0 && c.heldCount == 0 && c.n >= c.end && !c.unordered }

// take counts a record, and the held records that were waiting for it. If the record's own predecessor is missing,
// take holds it.
func (c *chain) take(t *pointSink, e *Record) {
	if c.seen.add(e.ID) {
		return
	}
	c.n++
	if e.Type.Terminal() {
		t.terminal(e.Type, e.Error, e.Time)
		if !c.unordered && e.ID > c.redriven {
			c.end, c.endTime, c.succeeded = e.ID, e.Time, e.Type == history.ExecutionSucceeded
		}
	}
	if e.Type == history.ExecutionRedriven && e.ID > c.redriven {
		c.redriven = e.ID
		if c.end < e.ID {
			c.end = 0 // the end before the redrive, some of whose records are still missing
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

func (c *chain) apply(t *pointSink, e *Record) {
	c.applied.add(e.ID)
	c.event(t, e)
	if c.unordered {
		c.attempts.Forget(e.ID) // nothing will follow it
	}
	if c.lost[e.ID] { // the records after it have already been counted
		delete(c.lost, e.ID)
		c.attempts.Forget(e.ID)
	}
}

// release counts the held records, although the records that they wait for are missing.
func (c *chain) release(t *pointSink) {
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
func (c *chain) unpaired(t *pointSink, at, n int64) {
	t.add(UnpairedEvents, Labels{StateMachine: t.machine}, at, float64(n))
}

// close counts failures without a following event, and records that were not received, at the end of an execution.
func (c *chain) close(t *pointSink) {
	cutOff(t, &c.attempts, c.endTime)
	if lack := c.end - c.n - int64(len(c.lost)); lack > 0 && c.end <= maxEvents {
		c.unpaired(t, c.endTime, lack)
	}
}

// abandon counts failures that wait for their following event as unpaired, because that event will not be read.
func (c *chain) abandon(t *pointSink) {
	for a := range c.attempts.Open() {
		if a.Failed() {
			c.unpaired(t, a.Ended.Time, 1)
		}
	}
}

func (c *chain) event(t *pointSink, e *Record) {
	one := history.Event{ID: e.ID, Previous: e.Previous, Time: e.Time, Type: e.Type, Name: e.Name}
	switch e.Type.Step() {
	case history.StepFailed:
		one.More = &history.Details{Failure: history.Failure{Name: e.Error}}
	case history.StepScheduled: // a redrive finds the state that it continues by what the state calls
		one.More = &history.Details{Resource: e.Resource, ResourceType: e.ResourceType}
	default:
	}
	switch {
	case e.Type.Terminal():
		c.uncut = e.Time
	case e.Type == history.ExecutionRedriven && c.uncut != 0:
		cutOff(t, &c.attempts, c.uncut)
		c.uncut = 0
	}
	if late, decided := c.punctual.read(e.Type, e.Time); decided {
		t.inTime(late, e.Time)
	}
	change := c.attempts.Read(&one)
	if a := change.Attempt; a != nil && a.State == "" {
		a.State = c.only
	}
	count(t, change, e.Time)
}

// over returns the state to keep of the execution after its end.
func (c *chain) over() over {
	o := over{last: c.end}
	if !c.succeeded {
		attempts := c.attempts
		o.attempts = &attempts
	}
	return o
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
