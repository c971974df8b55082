package retrymetrics

import "stepback/engine/history"

// Target receives the counts of [Live]; *[Collector] and *[Counter] implement it.
type Target interface {
	begin(executionARN string) sink
}

// Live counts the events of one execution at the time they happen. After each event, the targets contain exactly what
// they would contain had they counted the history so far as a whole. A redrive continues the counts: what happened
// before it is not counted again.
//
// An engine passes the events of each execution to engine.Config.Track: create a Live there, Skip the past events, and
// Count the events of each step.
//
// It is not safe for concurrent use; its targets are.
type Live struct {
	attempts *history.AttemptReader // nil when no event has been read, and after the execution's end
	sinks    []sink
	punctual punctual
}

// NewLive returns a Live for an execution of which no event has been read.
func NewLive(executionARN string, targets ...Target) *Live {
	l := &Live{sinks: make([]sink, len(targets))}
	for i, t := range targets {
		l.sinks[i] = t.begin(executionARN)
	}
	return l
}

// Skip reads events that have been counted before, so that Live knows what later events refer to.
func (l *Live) Skip(events []history.Event) {
	for i := range events {
		l.skip(&events[i])
	}
}

func (l *Live) skip(e *history.Event) {
	l.reader().Read(e)
	l.punctual.read(e.Type, e.Time)
}

// Read counts one event and returns what it changed. The counts may become visible only with Flush.
func (l *Live) Read(e *history.Event) history.Change {
	c := l.reader().Read(e)
	late, decided := l.punctual.read(e.Type, e.Time)
	for _, s := range l.sinks {
		count(s, c, e.Time)
		if decided {
			s.inTime(late, e.Time)
		}
	}
	if e.Type.Terminal() {
		for _, s := range l.sinks {
			cutOff(s, l.attempts, e.Time)
			s.terminal(e.Type, failureName(e), e.Time)
		}
	}
	return c
}

// Flush makes everything counted so far visible in the targets.
func (l *Live) Flush() {
	for _, s := range l.sinks {
		s.flush()
	}
}

// Count counts events and makes the counts visible.
func (l *Live) Count(events []history.Event) {
	for i := range events {
		l.Read(&events[i])
	}
	l.Flush()
}

// CountSince counts the events that happened at or after a time, in nanoseconds since 1970, and makes the counts
// visible. It skips earlier ones.
func (l *Live) CountSince(events []history.Event, since int64) {
	for i := range events {
		if events[i].Time < since {
			l.skip(&events[i])
		} else {
			l.Read(&events[i])
		}
	}
	l.Flush()
}

// Close releases what Live holds. Live can then not be used any more.
func (l *Live) Close() {
	if l.attempts != nil {
		l.attempts.Reset()
		readers.Put(l.attempts)
		l.attempts = nil
	}
}

func (l *Live) reader() *history.AttemptReader {
	if l.attempts == nil {
		l.attempts = readers.Get().(*history.AttemptReader)
	}
	return l.attempts
}

// whole counts a history.
func whole(executionARN string, events []history.Event, t Target) {
	l := NewLive(executionARN, t)
	l.Count(events)
	l.Close()
}
