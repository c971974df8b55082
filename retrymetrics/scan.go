package retrymetrics

import "stepback/engine/history"

// sink is told what a scan finds, in the order of the history but for ended, which may come late. Times are in
// nanoseconds since 1970; a state is empty when the events do not tell it.
type sink interface {
	attempted(state string, at int64)
	succeeded(state string, at int64, attempt int) // by which attempt of the task; 0 when that is not known
	failed(f failure)
	retried(f failure, at int64) // another attempt follows the failure
	recovered(key Key, at int64) // that attempt succeeded
	ended(f failure)             // no attempt follows the failure
}

// failure is one attempt that failed.
type failure struct {
	key      Key
	at       int64
	timedOut bool // the state's own timeout or heartbeat
	attempt  int  // which attempt of the task it was; 0 when that is not known
	after    *Key // of the failure that the attempt was the retry of; nil when it was no retry
	cut      bool // nothing at all follows the failure: the execution ended before it was known what to do
}

// scan reads one whole history. Histories without a failure, the usual case, allocate nothing.
type scan struct {
	sink  sink
	open  map[int64]failure // failures by event ID, until an attempt follows
	again map[int64]failure // attempts that are retries, by the ID of their last event: the failure that each follows
}

// step is what an event is to an attempt.
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

// scheduled counts an attempt; one that follows from a failure is a retry.
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

// follows carries the mark of a retry on to the attempt's next event.
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

// stateOf walks back to the entry of the state that an event belongs to. An event follows from an earlier one; where a
// damaged history says otherwise the walk ends.
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
