package retrymetrics

import (
	"cmp"
	"slices"

	"stepback/engine/history"
)

// LogReader counts the records of a state machine's log, as whole batches of them arrive. The events of one execution
// may be spread over several batches: what is needed to pair an attempt with the failure before it is the failure's
// record and, for the state's name, that of the state's entry. The reader keeps these from batch to batch, so that it
// counts exactly when it sees all batches of an execution's log stream; an attempt whose beginning it did not see
// counts as [UnpairedEvents] and never as a retry. Records that come twice count once while their execution is kept.
//
// At log level ERROR only failures are logged: no retry can be told from a first attempt, and the state's name is known
// of child executions only, from ChildState.
//
// The zero value is ready. It is not safe for concurrent use.
type LogReader struct {
	// ChildState is the only Task state of the distributed Map's child executions, or empty.
	ChildState string
	// Executions is how many executions are kept at a time; 0 or less means 10,000. The one that began first goes
	// first.
	Executions int

	collector Collector
	kept      map[string]*chain
	order     []string // of kept, and of some that have ended
}

const defaultExecutions = 10_000

// Read counts a batch and returns what it came to.
func (r *LogReader) Read(batch []Record) []Point {
	batch = slices.Clone(batch)
	slices.SortStableFunc(batch, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Execution, b.Execution), cmp.Compare(a.ID, b.ID))
	})
	for len(batch) > 0 {
		n := 1
		for n < len(batch) && batch[n].Execution == batch[0].Execution {
			n++
		}
		r.execution(batch[:n])
		batch = batch[n:]
	}
	return r.collector.Take()
}

// execution counts records of one execution.
func (r *LogReader) execution(batch []Record) {
	arn := batch[0].Execution
	c := r.chain(arn)
	t := r.collector.teller(machineOf(arn))
	for i := range batch {
		e := &batch[i]
		if c.seen.add(e.ID) {
			continue
		}
		c.event(&t, e)
		if e.Type.Terminal() {
			c.close(&t)
			t.terminal(arn, e.Type, e.Time)
			delete(r.kept, arn)
		}
	}
	r.collector.take(&t)
}

func (r *LogReader) chain(arn string) *chain {
	if c := r.kept[arn]; c != nil {
		return c
	}
	if r.kept == nil {
		r.kept = map[string]*chain{}
	}
	r.makeRoom(cmp.Or(max(r.Executions, 0), defaultExecutions))
	c := &chain{links: map[int64]link{}}
	if child(arn) {
		c.only = r.ChildState
	}
	r.kept[arn] = c
	r.order = append(r.order, arn)
	return c
}

// makeRoom forgets the oldest executions until there is room for one more, and now and then the names of those that
// have ended.
func (r *LogReader) makeRoom(limit int) {
	for len(r.kept) >= limit {
		delete(r.kept, r.order[0])
		r.order = r.order[1:]
	}
	if len(r.order) >= 2*limit {
		r.order = slices.DeleteFunc(r.order, func(arn string) bool { return r.kept[arn] == nil })
	}
}

// chain is what is kept of one execution: by event ID, what the events that follow need.
type chain struct {
	only  string // the state where it is not told
	links map[int64]link
	seen  idSet
}

// link is where an attempt stands: at its state's entry, under way, or failed.
type link struct {
	state string
	retry *Key // of the failure that the attempt follows
	fail  *failure
}

func (c *chain) event(t *teller, e *Record) {
	before, known := c.links[e.Previous]
	at := stepOf(e.Type)
	if known && before.fail != nil && at != scheduled {
		t.ended(*before.fail) // something else follows the failure
		delete(c.links, e.Previous)
	}
	switch at {
	case scheduled:
		c.scheduled(t, e, before, known)
	case started:
		c.move(e, before)
	case succeeded:
		delete(c.links, e.Previous)
		t.succeeded(c.state(before), e.Time)
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

// move lets a link stand at its next event.
func (c *chain) move(e *Record, l link) {
	delete(c.links, e.Previous)
	c.links[e.ID] = l
}

func (c *chain) scheduled(t *teller, e *Record, before link, known bool) {
	t.attempted(c.state(before), e.Time)
	next := link{state: before.state}
	switch {
	case !known:
		t.add(UnpairedEvents, Labels{StateMachine: t.machine}, e.Time, 1)
	case before.fail != nil:
		t.retried(*before.fail, e.Time)
		next.retry = &before.fail.key
	}
	c.move(e, next)
}

func (c *chain) failed(t *teller, e *Record, before link) {
	f := failure{key: Key{c.state(before), e.Error}, at: e.Time, timedOut: timedOut(e.Type), retry: before.retry != nil}
	t.failed(f)
	c.move(e, link{state: before.state, fail: &f})
}

// close counts the failures that nothing followed.
func (c *chain) close(t *teller) {
	for _, l := range c.links {
		if l.fail != nil {
			t.ended(*l.fail)
		}
	}
}

// idSet holds event IDs, of which an execution has no more than maxEvents.
type idSet []uint64

const maxEvents = 25_000

// add reports whether the ID was there already.
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
