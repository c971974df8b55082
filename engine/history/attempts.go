package history

import (
	"iter"
	"slices"
)

// AttemptReader finds the attempts in the history of one execution. It is given the events one after the other.
// After each event it knows what has happened so far, so it can be used for histories of executions that are still
// running. Events may be missing, or may arrive after events that follow them; what is unknown is then zero.
//
// The zero value is ready for use. Reset makes the reader ready for another execution, after which it rarely
// allocates. It is not safe for concurrent use. Attempts that it returns are valid until the next call of Read,
// Forget or Reset.
type AttemptReader struct {
	open     []position // tasks that have not been left, sorted by their latest event
	gone     int        // number of positions whose a is nil; open is compacted when there are many
	free     []*Attempt
	left     *Attempt // returned as Left by the last Change; reused at the next event
	redrives int64
	redriven int64   // ID of the latest ExecutionRedriven event
	finished int64   // ID of the event that ended a step of a durable execution for good, if it is the latest event
	broken   []place // tasks that a failure or an abort ended, which a redrive continues
}

// position pairs a task's latest attempt, a, with the ID of the task's latest event, last. a becomes nil once a
// later event of the task has its own position.
type position struct {
	last int64
	a    *Attempt
}

// place identifies a task that a redrive may continue.
type place struct {
	state   string
	entered int64
	call    *Details
	input   string
}

// Reset returns the reader to its initial state.
func (r *AttemptReader) Reset() {
	for _, p := range r.open {
		if p.a != nil {
			r.release(p.a)
		}
	}
	r.recycle()
	clear(r.broken)
	r.open, r.gone, r.broken, r.redrives, r.redriven = r.open[:0], 0, r.broken[:0], 0, 0
	r.finished = 0
}

// Redrives returns how often the execution has been redriven so far.
func (r *AttemptReader) Redrives() int64 { return r.redrives }

// Open yields the latest attempts of the tasks that have not been left, in the order of their latest events. These
// are attempts in progress, and failures of which it is unknown whether they are retried. An attempt whose Redrive
// is less than Redrives was cut off by the end of the execution.
func (r *AttemptReader) Open() iter.Seq[*Attempt] {
	return func(yield func(*Attempt) bool) {
		for _, p := range r.open {
			if p.a != nil && p.a.Step != NoStep && !yield(p.a) {
				return
			}
		}
	}
}

// Forget drops the task whose latest event has the given ID. Events that follow from that event then belong to an
// unknown task.
func (r *AttemptReader) Forget(id int64) {
	if i, ok := r.find(id); ok {
		r.release(r.remove(i))
	}
}

// Read takes the next event, and returns what it changed.
func (r *AttemptReader) Read(e *Event) Change {
	r.recycle()
	left := r.leaveFinished()
	c := r.read(e)
	if c.Left == nil {
		c.Left = left
	}
	return c
}

// leaveFinished removes the step that the event before has ended for good. It returns its latest attempt, or nil.
func (r *AttemptReader) leaveFinished() *Attempt {
	i, ok := r.find(r.finished)
	if r.finished == 0 || !ok {
		return nil
	}
	r.finished = 0
	r.left = r.remove(i)
	return r.left
}

func (r *AttemptReader) read(e *Event) Change {
	i, found := r.find(e.Previous)
	var a *Attempt
	if found {
		a = r.open[i].a
	}
	switch step := e.Type.Step(); {
	case step == StepScheduled, e.Type.scheduleFailed() && !underWay(a):
		return r.begin(e, i, a)
	case step == StepSucceeded, step == StepFailed:
		return r.end(e, i, a)
	case step != NoStep && underWay(a):
		r.move(i, e.ID)
		a.Step = step
		if step == StepStarted && a.Started.ID == 0 {
			a.Started = moment(e)
		}
		return Change{Attempt: a}
	case e.Type == EvaluationFailed && a != nil && !a.Failed():
		r.move(i, e.ID) // the state's Retry and Catch decide what follows
		return Change{}
	}
	var c Change
	if a != nil {
		c.Left = r.leave(i, e)
	}
	switch e.Type {
	case TaskStateEntered:
		r.enter(e)
	case ExecutionRedriven:
		r.redrive(e)
	default:
	}
	return c
}

func (r *AttemptReader) enter(e *Event) {
	if i := slices.IndexFunc(r.broken, func(p place) bool { return p.state == e.Name }); i >= 0 {
		r.broken = slices.Delete(r.broken, i, i+1) // done again, as after a retry of the Parallel or Map around it
	}
	a := r.take()
	a.State, a.Entered, a.Redrive = e.Name, e.ID, r.redrives
	r.insert(e.ID, a)
}

// begin begins an attempt. a is the attempt at position i that the event follows; nil if that is unknown.
func (r *AttemptReader) begin(e *Event, i int, a *Attempt) Change {
	c := Change{Begins: true}
	next := Attempt{Redrive: r.redrives, Task: e.Type.Task(), Scheduled: moment(e), Step: StepScheduled}
	switch {
	case a == nil:
		if r.redriven != 0 && e.Previous == r.redriven {
			at := r.resume(e)
			next.State, next.Entered = at.state, at.entered
		}
	case a.Failed():
		next.State, next.Entered, next.RetryOf = a.State, a.Entered, Retried{a.Ended, a.Failure.Name}
		if a.Number > 0 {
			next.Number = a.Number + 1
		}
	default:
		next.State, next.Entered = a.State, a.Entered
		if underWay(a) { // in a damaged history only
			c.Left, a = r.leave(i, e), nil
		}
	}
	if next.Task == DurableStep {
		if next.State == "" {
			next.State, next.Entered = e.Name, e.ID
		}
		next.Started = next.Scheduled
	}
	if next.State != "" && next.Number == 0 && !next.Retry() {
		next.Number = 1
	}
	if a == nil {
		a = r.take()
		r.insert(e.ID, a)
	} else {
		r.move(i, e.ID)
	}
	switch {
	case next.Task == DurableStep:
	case e.Type.Step() == StepScheduled:
		next.Call, next.Input = e.More, e.Data
	default:
		next.fail(e)
	}
	*a = next
	c.Attempt = a
	return c
}

// end ends an attempt, or adds one whose beginning is unknown.
func (r *AttemptReader) end(e *Event, i int, a *Attempt) Change {
	var c Change
	if !underWay(a) {
		next := Attempt{Redrive: r.redrives, Task: e.Type.Task()}
		if a != nil {
			next.State, next.Entered = a.State, a.Entered
			if a.Step == NoStep {
				next.Number = 1
			} else {
				c.Left, a = r.leave(i, e), nil
			}
		}
		if a == nil {
			a = r.take()
			r.insert(e.ID, a)
		} else {
			r.move(i, e.ID)
		}
		*a = next
	} else {
		r.move(i, e.ID)
	}
	if e.Type.Step() == StepFailed {
		a.fail(e)
	} else {
		a.Step, a.Ended, a.Output = StepSucceeded, moment(e), e.Data
	}
	if a.Task == DurableStep {
		a.Output = "" // Data describes the event
		if a.State == "" {
			a.State = e.Name
		}
		if !e.retries() {
			r.finished = e.ID
		}
	}
	c.Attempt = a
	return c
}

// leave removes the task at position i, because an event that does not belong to the task follows it. It returns
// the task's latest attempt, or nil if it had none.
func (r *AttemptReader) leave(i int, e *Event) *Attempt {
	a := r.remove(i)
	if !e.Type.Exited() && !e.Type.Entered() && e.Type.Step() == NoStep {
		r.broken = append(r.broken, a.place())
	}
	r.left = a
	if a.Step == NoStep {
		return nil
	}
	return a
}

func (a *Attempt) place() place { return place{a.State, a.Entered, a.Call, a.Input} }

// redrive records that the tasks that were cut off can continue.
func (r *AttemptReader) redrive(e *Event) {
	for _, p := range r.open {
		if p.a != nil && p.a.Redrive == r.redrives && p.a.State != "" {
			r.broken = append(r.broken, p.a.place())
		}
	}
	r.redrives++
	r.redriven = e.ID
}

// resume returns the task that a redrive continues with an event. The event does not name the task, so resume
// prefers a task that made the same call with the same input, then one that made the same call, then any. Among
// several, it chooses the one whose state was entered first. It returns zero if there is none.
func (r *AttemptReader) resume(e *Event) place {
	best, score := -1, -1
	for i := range r.broken {
		p, n := &r.broken[i], 0
		if p.call != nil && e.More != nil && p.call.Resource == e.More.Resource &&
			p.call.ResourceType == e.More.ResourceType {
			n++
			if p.input == e.Data {
				n++
			}
		}
		if n > score || n == score && p.entered < r.broken[best].entered {
			best, score = i, n
		}
	}
	if best < 0 {
		return place{}
	}
	p := r.broken[best]
	r.broken = slices.Delete(r.broken, best, best+1)
	return p
}

// find returns the position of the task whose latest event is id. If there is none, ok is false and i is the first
// position behind it.
func (r *AttemptReader) find(id int64) (i int, ok bool) {
	n := len(r.open)
	if n == 0 || r.open[n-1].last < id {
		return n, false
	}
	low, high := 0, n-1 // the position is one of these
	if r.open[high].last == id {
		low = high
	}
	for low < high {
		if middle := (low + high) / 2; r.open[middle].last < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, r.open[low].last == id && r.open[low].a != nil
}

func (r *AttemptReader) insert(id int64, a *Attempt) {
	i := len(r.open)
	if i > 0 && r.open[i-1].last >= id { // it came late
		if i, _ = r.find(id); r.open[i].last == id {
			if old := r.open[i].a; old != nil { // the same event twice
				r.release(old)
			} else {
				r.gone--
			}
			r.open[i].a = a
			return
		}
	}
	r.open = slices.Insert(r.open, i, position{id, a})
}

// remove removes the task at position i and returns its attempt. Empty positions are dropped when they are the
// majority.
func (r *AttemptReader) remove(i int) *Attempt {
	a := r.open[i].a
	if i == len(r.open)-1 {
		r.open = r.open[:i]
		return a
	}
	r.open[i].a = nil
	r.gone++
	if r.gone > 16 && r.gone > len(r.open)/2 {
		r.open = slices.DeleteFunc(r.open, func(p position) bool { return p.a == nil })
		r.gone = 0
	}
	return a
}

// move changes the latest event of the task at position i to id.
func (r *AttemptReader) move(i int, id int64) { r.insert(id, r.remove(i)) }

func (r *AttemptReader) take() *Attempt {
	n := len(r.free)
	if n == 0 {
		return &Attempt{}
	}
	a := r.free[n-1]
	r.free = r.free[:n-1]
	return a
}

// recycle releases the attempt that the last event left.
func (r *AttemptReader) recycle() {
	if r.left != nil {
		r.release(r.left)
		r.left = nil
	}
}

// release clears an attempt and keeps it for reuse by another task.
func (r *AttemptReader) release(a *Attempt) {
	*a = Attempt{}
	r.free = append(r.free, a)
}
