package retrymetrics

import (
	"cmp"
	"slices"
	"time"

	"stepback/engine/history"
)

// LogReader counts the records of a state machine's log, in whatever order batches of them arrive. It processes
// each execution's events in the order of the history. It holds a record until the previous event
// (previous_event_id) has arrived. The figures therefore equal those of the whole histories, even if deliveries
// overtake each other. A duplicate record counts once while its execution is kept or remembered. Records count when
// they arrive, also while their execution is running; a redrive continues the counts of its execution.
//
// Its memory is bounded: see Executions, Held and Patience. A held record that is given up counts without its
// predecessors: an attempt then does not count as a retry. [UnpairedEvents] counts the missing events, so that
// incomplete figures are visible.
//
// The zero value is ready to use. It is not safe for concurrent use.
type LogReader struct {
	// Level is the log level; empty means [LevelAll]. At [LevelError] only failures are logged. Then nothing is
	// held, and retries cannot be distinguished from first attempts. The state's name is known only for child
	// executions, from ChildState.
	Level Level
	// ChildState is the name of the only Task state in the distributed Map's child executions; empty if they have
	// several, or if it is not known. It does not apply to the import's children that check a range of a file or import
	// a whole file.
	ChildState string
	// Executions is the maximum number of executions kept at a time. It is also the number of ended executions
	// whose ARNs are remembered to recognise duplicate records. 0 or less means 10,000. The execution that started
	// first is given up first.
	Executions int
	// Held is the maximum number of records held at a time, for all executions together; 0 or less means 100,000,
	// which take about 20 MB. If there are more, the executions that started first give up theirs.
	Held int
	// Patience is the maximum time for which an execution that lacks records waits for the next one; then its held
	// records are given up. 0 or less means 15 minutes. The time is measured by the records' own times, up to the
	// newest of all, and there must also have been at least 64 calls of Read.
	Patience time.Duration

	collector Collector
	kept      map[string]*chain
	order     []string // keys of kept, oldest first; may include ended ones
	ended     map[string]over
	past      []string // the keys of ended, oldest first
	held      int
	newest    int64 // the newest record's time
	swept     int64 // value of newest when overdue records were last given up
	reads     int64
}

// over holds the state that is kept of an ended execution.
type over struct {
	last     int64                  // ID of its last event
	attempts *history.AttemptReader // what a redrive continues; nil if the execution succeeded
}

const (
	defaultExecutions = 10_000
	defaultHeld       = 100_000
	defaultPatience   = 15 * time.Minute
	patienceReads     = 64
)

// Read counts a batch. It returns the points for the batch and for the held records that the batch released.
func (r *LogReader) Read(batch []Record) []Point {
	r.reads++
	batch = slices.Clone(batch)
	slices.SortStableFunc(batch, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Execution, b.Execution), cmp.Compare(a.ID, b.ID))
	})
	for i := range batch {
		r.newest = max(r.newest, batch[i].Time)
	}
	for len(batch) > 0 {
		n := 1
		for n < len(batch) && batch[n].Execution == batch[0].Execution {
			n++
		}
		r.execution(batch[:n])
		batch = batch[n:]
	}
	if r.newest-r.swept >= int64(time.Minute) {
		r.expire(r.newest, patienceReads)
	}
	if limit := cmp.Or(max(r.Held, 0), defaultHeld); r.held > limit {
		r.freeHeld(limit)
	}
	return r.collector.Take()
}

// Expire gives up records that have been held for longer than Patience at the time now, and returns their points. Use
// it for a log that has become quiet: without further records, Read does not notice that time has passed.
func (r *LogReader) Expire(now time.Time) []Point {
	r.expire(now.UnixNano(), 0)
	return r.collector.Take()
}

func (r *LogReader) limit() int { return cmp.Or(max(r.Executions, 0), defaultExecutions) }

// execution counts the records of one execution.
func (r *LogReader) execution(batch []Record) {
	arn := batch[0].Execution
	before, known := r.ended[arn]
	if known && batch[len(batch)-1].ID <= before.last {
		return // duplicates
	}
	c := r.chain(arn, before)
	t := r.collector.sinkOf(arn)
	waited := c.waiting()
	for i := range batch {
		c.take(&t, &batch[i])
	}
	r.held += c.waiting() - waited
	c.since = moment{}
	if c.waiting() > 0 || c.end > 0 {
		c.since = moment{r.newest, r.reads}
	}
	if c.complete() {
		r.close(arn, c, &t)
	}
	t.flush()
}

// chain returns the state of an execution. A new one starts after the event with which the execution ended before it
// was redriven, if that is remembered.
func (r *LogReader) chain(arn string, before over) *chain {
	if c := r.kept[arn]; c != nil {
		return c
	}
	if r.kept == nil {
		r.kept = map[string]*chain{}
	}
	r.makeRoom(r.limit())
	c := &chain{unordered: r.Level == LevelError}
	if isBatch(arn) {
		c.only = r.ChildState
	}
	for id := int64(1); id <= min(before.last, maxEvents); id++ {
		c.seen.add(id)
		c.applied.add(id)
	}
	c.n = before.last
	if before.attempts != nil {
		c.attempts = *before.attempts
	}
	r.kept[arn] = c
	r.order = append(r.order, arn)
	return c
}

// makeRoom gives up the oldest executions until there is space for another one. It occasionally removes the ARNs of
// ended executions from order.
func (r *LogReader) makeRoom(limit int) {
	for len(r.kept) >= limit {
		if arn := r.order[0]; r.kept[arn] != nil {
			r.dismiss(arn)
		}
		r.order = r.order[1:]
	}
	if len(r.order) >= 2*limit {
		r.order = slices.DeleteFunc(r.order, func(arn string) bool { return r.kept[arn] == nil })
	}
}

// dismiss counts the held records of an execution and removes the execution.
func (r *LogReader) dismiss(arn string) {
	c := r.kept[arn]
	t := r.collector.sinkOf(arn)
	r.held -= c.waiting()
	c.release(&t)
	if c.end > 0 {
		r.close(arn, c, &t)
	} else {
		c.abandon(&t)
		delete(r.kept, arn)
	}
	t.flush()
}

// close counts the rest of an execution whose terminal event has arrived, and forgets the execution.
func (r *LogReader) close(arn string, c *chain, t *pointSink) {
	c.close(t)
	delete(r.kept, arn)
	if r.ended == nil {
		r.ended = map[string]over{}
	}
	if _, again := r.ended[arn]; !again {
		r.past = append(r.past, arn)
	}
	r.ended[arn] = c.over()
	for len(r.past) > r.limit() {
		delete(r.ended, r.past[0])
		r.past = r.past[1:]
	}
}

// expire gives up records that have been held for longer than Patience and for at least the given number of calls of
// Read.
func (r *LogReader) expire(now, reads int64) {
	r.swept = r.newest
	patience := int64(cmp.Or(max(r.Patience, 0), defaultPatience))
	for _, arn := range r.order {
		c := r.kept[arn]
		if c == nil || c.since.reads == 0 || now-c.since.at < patience || r.reads-c.since.reads < reads {
			continue
		}
		if c.end > 0 {
			r.dismiss(arn)
			continue
		}
		r.releaseHeld(arn, c)
	}
}

// freeHeld gives up held records of the oldest executions until a quarter of the limit is free.
func (r *LogReader) freeHeld(limit int) {
	for _, arn := range r.order {
		if r.held <= limit-limit/4 {
			return
		}
		if c := r.kept[arn]; c != nil && c.waiting() > 0 {
			r.releaseHeld(arn, c)
		}
	}
}

// releaseHeld counts the held records of an execution but keeps the execution.
func (r *LogReader) releaseHeld(arn string, c *chain) {
	t := r.collector.sinkOf(arn)
	r.held -= c.waiting()
	c.release(&t)
	c.since = moment{}
	if c.complete() {
		r.close(arn, c, &t)
	}
	t.flush()
}
