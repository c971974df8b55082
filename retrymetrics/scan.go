package retrymetrics

import (
	"time"

	"stepback/engine/history"
)

// sink is told what a scan finds, in the order of the history but for ended, which may come late. Times are in
// nanoseconds since 1970; a state is empty when the events do not tell it.
type sink interface {
	attempted(state string, at int64)
	succeeded(state string, at int64)
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
	retry    bool // the attempt was itself a retry
}

// scan reads one whole history. Histories without a failure, the usual case, allocate nothing.
type scan struct {
	sink   sink
	open   map[int64]failure // failures by event ID, until the next event tells whether a retry follows
	again  map[int64]Key     // attempts that are retries, by the ID of their last event
	worked time.Duration
	tasks  int64
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
		switch stepOf(e.Type) {
		case scheduled:
			s.scheduled(events, e)
		case started:
			s.follows(e)
		case succeeded:
			s.worked += since(events, e)
			s.succeeded(events, e)
		case failed:
			s.worked += since(events, e)
			s.failed(events, e)
		case elsewhere:
		}
	}
	for _, f := range s.open {
		s.sink.ended(f)
	}
}

// since is the time between an event and the one it follows from.
func since(events []history.Event, e *history.Event) time.Duration {
	if e.Previous < 1 || e.Previous > int64(len(events)) {
		return 0
	}
	return time.Duration(e.Time - events[e.Previous-1].Time)
}

// scheduled counts an attempt; one that follows from a failure is a retry.
func (s *scan) scheduled(events []history.Event, e *history.Event) {
	s.tasks++
	f, ok := s.open[e.Previous]
	if !ok {
		s.sink.attempted(stateOf(events, e), e.Time)
		return
	}
	s.sink.attempted(f.key.State, e.Time)
	delete(s.open, e.Previous)
	s.sink.retried(f, e.Time)
	if s.again == nil {
		s.again = map[int64]Key{}
	}
	s.again[e.ID] = f.key
}

// follows carries the mark of a retry on to the attempt's next event.
func (s *scan) follows(e *history.Event) {
	if k, ok := s.again[e.Previous]; ok {
		delete(s.again, e.Previous)
		s.again[e.ID] = k
	}
}

func (s *scan) succeeded(events []history.Event, e *history.Event) {
	s.sink.succeeded(stateOf(events, e), e.Time)
	if k, ok := s.again[e.Previous]; ok {
		delete(s.again, e.Previous)
		s.sink.recovered(k, e.Time)
	}
}

func (s *scan) failed(events []history.Event, e *history.Event) {
	_, retry := s.again[e.Previous]
	delete(s.again, e.Previous)
	f := failure{key: Key{State: stateOf(events, e)}, at: e.Time, timedOut: timedOut(e.Type), retry: retry}
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
