package durablefunctions

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"stepback/engine"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// Invocation is the Name of a Retry that is an invocation of the function.
const Invocation = "invocation"

// Retry is a STEP that waits for its next attempt, or an execution that waits for its next invocation, because the
// latest one failed outside the SDK, for example in broken code, or because the function could not be invoked.
type Retry struct {
	// Operation is the ID of the STEP, Name its name, or its ID if it has none. For an invocation, they are the ID of
	// the EXECUTION and Invocation.
	Operation, Name string
	Type            string // durable.TypeStep or durable.TypeExecution
	// Error is the type of the error with which its latest attempt failed; empty if it asked to be repeated without
	// one.
	Error string
	// Attempt is the number of the attempt that comes next, at least 2. Invocations are counted since the last one that
	// did not fail.
	Attempt int64
	// Failed is when the latest attempt ended, Next when the next one may begin.
	Failed, Next time.Time
}

// retriesOf returns the steps of an execution that wait for their next attempts, the next one first.
func retriesOf(x *durable.Execution) []Retry {
	var all []Retry
	for _, o := range x.Operations() {
		if o.Type != durable.TypeStep || o.Status != durable.Pending {
			continue
		}
		r := Retry{Operation: o.ID, Name: o.Name, Type: o.Type, Attempt: o.Attempt + 1, Failed: o.Latest, Next: o.Next}
		if r.Name == "" {
			r.Name = o.ID
		}
		if o.Error != nil {
			r.Error = deref(o.Error.ErrorType)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Retry) int { return a.Next.Compare(b.Next) })
	return all
}

// waitsOf returns the steps that wait for their next attempts, after the wait for the next invocation, without which
// none of them begins.
func waitsOf(x *durable.Execution) []Retry {
	all := retriesOf(x)
	again, ok := x.Reinvocation()
	if !ok {
		return all
	}
	r := Retry{Operation: x.Operations()[0].ID, Name: Invocation, Type: durable.TypeExecution,
		Attempt: int64(again.Failures) + 1, Failed: again.Failed, Next: again.Next}
	if again.Error != nil {
		r.Error = deref(again.Error.ErrorType)
	}
	return slices.Insert(all, 0, r)
}

// Query selects executions.
type Query struct {
	// Of is the ARN of a function, version or alias, or the prefix of all ARNs of an account and region, which ends in
	// a colon; see journal.ScopeOf.
	Of string
	// Statuses are the statuses to list, in Lambda's spelling; empty means all.
	Statuses []string
	// Retrying leaves out executions without a Retry.
	Retrying bool
	// Error, if not empty, leaves out executions that neither ended with this error type nor retry because of it.
	Error string
	// Since, if not zero, leaves out executions that started earlier.
	Since time.Time
	// After is the place after which the list continues; the zero Place means the beginning.
	After journal.Place
}

// Listed is an execution in a list, without its input and its result, and its retries.
type Listed struct {
	*journal.Execution
	Retries []Retry
}

// Status returns the status in Lambda's spelling.
func (l *Listed) Status() string { return aStatus(l.Execution.Status) }

// Listed yields executions, newest first. A list of those that retry waits until the executions of an earlier process
// have been recovered; see Resume.
func (s *Service) Listed(ctx context.Context, q *Query) iter.Seq2[Listed, error] {
	l := &journal.List{Of: q.Of, Error: q.Error, Since: q.Since, After: q.After}
	for _, status := range q.Statuses {
		l.Statuses = append(l.Statuses, journalStatus(status))
	}
	return func(yield func(Listed, error) bool) {
		for x, err := range s.candidates(ctx, q, l) {
			if err != nil {
				yield(Listed{}, err)
				return
			}
			if !durable.IsARN(x.ARN) || s.expired(x) {
				continue
			}
			one := Listed{Execution: x}
			if !x.Ended() {
				if one.Retries, err = s.Retries(ctx, x.ARN); err != nil {
					yield(Listed{}, err)
					return
				}
			}
			if q.Retrying && len(one.Retries) == 0 || q.Error != "" && !x.Ended() &&
				!slices.ContainsFunc(one.Retries, func(r Retry) bool { return r.Error == q.Error }) {
				continue
			}
			if !yield(one, nil) {
				return
			}
		}
	}
}

// candidates yields the executions that a query selects, and some running ones that it does not: from the journal or,
// if the query asks for those that retry, from memory.
func (s *Service) candidates(ctx context.Context, q *Query, l *journal.List) iter.Seq2[*journal.Execution, error] {
	if !q.Retrying {
		return s.o.Journal.Listed(ctx, l)
	}
	return func(yield func(*journal.Execution, error) bool) {
		if err := s.AwaitRecovery(ctx); err != nil {
			yield(nil, err)
			return
		}
		for _, place := range s.retrying(l) {
			x, err := s.o.Journal.Execution(ctx, place.ARN)
			if errors.Is(err, journal.ErrNotFound) || err == nil && !l.Selects(x) {
				continue
			}
			if err == nil {
				x.Input, x.Output = "", ""
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// retrying returns the places of the executions that have retries, in the order of a list and from its After on. They
// may be in other lists of the same account and region.
func (s *Service) retrying(l *journal.List) []journal.Place {
	scope, first := journal.ScopeOf(l.Of), l.First()
	s.mu.Lock()
	defer s.mu.Unlock()
	var places []journal.Place
	for arn, r := range s.runs {
		if !strings.HasPrefix(arn, scope) {
			continue
		}
		r.mu.Lock()
		if place := (journal.Place{Start: r.started, ARN: arn}); len(r.retries) > 0 && place.Compare(first) > 0 {
			places = append(places, place)
		}
		r.mu.Unlock()
	}
	slices.SortFunc(places, journal.Place.Compare)
	return places
}

// Retries returns the steps of a running execution that wait for their next attempts, the next one first, after the
// wait for the next invocation, if there is one. Errors are those of ctx and the journal.
func (s *Service) Retries(ctx context.Context, arn string) ([]Retry, error) {
	r, err := s.running(ctx, arn)
	if r == nil || err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.retries, nil // replaced as a whole, never changed
}

// Page returns a page of the executions that a query selects, and the token of the next page, which is empty if there
// is none. size is at least 1. The errors are engine.ErrPageToken and those of Listed.
func (s *Service) Page(ctx context.Context, q Query, size int, token string) (page []Listed, next string, err error) {
	if token != "" {
		if q.After, err = placeOf(token); err != nil {
			return nil, "", err
		}
	}
	for l, err := range s.Listed(ctx, &q) {
		if err != nil {
			return nil, "", err
		}
		if len(page) == size {
			return page, placeToken(page[size-1].Execution), nil
		}
		page = append(page, l)
	}
	return page, "", nil
}

// placeToken returns the token of the page after an execution.
func placeToken(x *journal.Execution) string {
	return base64.RawURLEncoding.EncodeToString([]byte(engine.PlaceText(journal.PlaceOf(x))))
}

// placeOf returns the place after which the page of a token begins. The error is engine.ErrPageToken.
func placeOf(token string) (journal.Place, error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return journal.Place{}, engine.ErrPageToken
	}
	return engine.ParsePlace(string(text))
}

// Find returns the description of an execution in the journal's form. The error is a *aws.Error if there is none.
func (s *Service) Find(ctx context.Context, arn string) (*journal.Execution, error) {
	x, err := s.find(ctx, arn)
	if err == nil && x == nil {
		err = missing(arn)
	}
	return x, err
}

// Tracked returns a time before which every event has been passed to Options.Track, or was refused by the journal.
// waits is true if commands are waiting for the journal; before is then the time of the oldest one. Otherwise it is the
// current time.
func (s *Service) Tracked() (before time.Time, waits bool) {
	s.stamps.Lock()
	defer s.stamps.Unlock()
	before = s.o.Clock.Now()
	for _, at := range s.stamped {
		if at.Before(before) {
			before = at
		}
	}
	return before, len(s.stamped) > 0
}

// stamp returns the time of a command of an execution, which is not tracked until unstamp.
func (s *Service) stamp(r *run) time.Time {
	s.stamps.Lock()
	defer s.stamps.Unlock()
	now := s.o.Clock.Now()
	s.stamped[r] = now
	return now
}

func (s *Service) unstamp(r *run) {
	s.stamps.Lock()
	defer s.stamps.Unlock()
	delete(s.stamped, r)
}

// recovered passes the events of an unfinished execution of an earlier process to Options.Recovered.
func (s *Service) recovered(x *journal.Execution, past []history.Event) {
	if s.o.Recovered != nil {
		s.o.Recovered(x, past)
	}
}
