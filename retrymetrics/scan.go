package retrymetrics

import "stepback/engine/history"

// sink receives what a scan finds, in the order of the history, except that ended may be called late. Times are in
// nanoseconds since 1970; a state is empty if the events do not contain it.
type sink interface {
	attempted(state string, at int64)
	succeeded(state string, at int64, attempt int) // attempt is the task's attempt that succeeded; 0 if unknown
	failed(f failure)
	retried(f failure, at int64) // another attempt follows the failure
	recovered(key Key, at int64) // that attempt succeeded
	ended(f failure)             // no attempt follows the failure
}

// failure is one attempt that failed.
type failure struct {
	key      Key
	at       int64
	timedOut bool // by the state's own timeout or heartbeat
	attempt  int  // number of the attempt within its task; 0 if unknown
	after    *Key // the failure of which the attempt was a retry; nil if it was not a retry
	cut      bool // nothing follows the failure, because the execution ended before the next step was decided
}

// scan processes one whole history. Histories without a failure, the usual case, allocate nothing.
type scan struct {
	sink  sink
	open  map[int64]failure // failures by event ID, until an attempt follows
	again map[int64]failure // retries by the ID of their latest event, with the failure that each follows
}

// step is the role of an event in an attempt.
type step int

const (
	elsewhere step = iota
	scheduled
	started
	succeeded
	failed
)

func stepOf(t history.Type) step {
	switch t {
	case history.TaskScheduled, history.LambdaFunctionScheduled, history.ActivityScheduled:
		return scheduled
	case history.TaskStarted, history.LambdaFunctionStarted, history.ActivityStarted, history.TaskSubmitted:
		return started
	case history.TaskSucceeded, history.LambdaFunctionSucceeded, history.ActivitySucceeded:
		return succeeded
	case history.TaskFailed, history.TaskTimedOut, history.LambdaFunctionFailed, history.LambdaFunctionTimedOut,
		history.ActivityFailed, history.ActivityTimedOut, history.TaskStartFailed, history.TaskSubmitFailed:
		return failed
	default:
		return elsewhere
	}
}

func timedOut(t history.Type) bool {
	return t == history.TaskTimedOut || t == history.LambdaFunctionTimedOut || t == history.ActivityTimedOut
}

func (s *scan) run(events []history.Event) {
	for i := range events {
		e := &events[i]
		if f, ok := s.open[e.Previous]; ok {
			f.cut = false
			s.open[e.Previous] = f
		}
		switch stepOf(e.Type) {
		case scheduled:
			s.scheduled(events, e)
		case started:
			s.follows(e)
		case succeeded:
			s.succeeded(events, e)
		case failed:
			s.failed(events, e)
		case elsewhere:
		}
	}
	for _, f := range s.open {
		s.sink.ended(f)
	}
}

// scheduled counts an attempt; it is a retry if it follows a failure.
func (s *scan) scheduled(events []history.Event, e *history.Event) {
	f, ok := s.open[e.Previous]
	if !ok {
		s.sink.attempted(stateOf(events, e), e.Time)
		return
	}
	s.sink.attempted(f.key.State, e.Time)
	delete(s.open, e.Previous)
	s.sink.retried(f, e.Time)
	if s.again == nil {
		s.again = map[int64]failure{}
	}
	s.again[e.ID] = f
}

// follows moves the mark of a retry to the attempt's next event.
func (s *scan) follows(e *history.Event) {
	if f, ok := s.again[e.Previous]; ok {
		delete(s.again, e.Previous)
		s.again[e.ID] = f
	}
}

func (s *scan) succeeded(events []history.Event, e *history.Event) {
	f, retry := s.again[e.Previous]
	s.sink.succeeded(stateOf(events, e), e.Time, f.attempt+1)
	if retry {
		delete(s.again, e.Previous)
		s.sink.recovered(f.key, e.Time)
	}
}

func (s *scan) failed(events []history.Event, e *history.Event) {
	f := failure{key: Key{State: stateOf(events, e)}, at: e.Time, timedOut: timedOut(e.Type), attempt: 1, cut: true}
	if before, retry := s.again[e.Previous]; retry {
		delete(s.again, e.Previous)
		f.attempt, f.after = before.attempt+1, &before.key
	}
	if e.More != nil {
		f.key.Error = e.More.Failure.Name
	}
	s.sink.failed(f)
	if s.open == nil {
		s.open = map[int64]failure{}
	}
	s.open[e.ID] = f
}

// stateOf walks back to the entry of the state that an event belongs to. Previous events must have lower IDs; the
// walk ends if a damaged history violates this.
func stateOf(events []history.Event, e *history.Event) string {
	for at := int64(len(events)) + 1; e.Previous >= 1 && e.Previous < at && e.Previous <= int64(len(events)); {
		at = e.Previous
		e = &events[at-1]
		if e.Type.Entered() {
			return e.Name
		}
	}
	return ""
}
