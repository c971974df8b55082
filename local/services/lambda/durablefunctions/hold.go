package durablefunctions

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/durable"
)

// holds has the holds of all accounts and regions. While there is none, a command costs one atomic load.
type holds struct {
	active atomic.Bool

	mu   sync.Mutex
	list map[aws.Scope][]engine.Hold
}

// postponed is a retry that a hold has stopped and that begins later, after its release.
type postponed struct {
	due   time.Time // when it should have begun; a later retry of the same STEP has another one
	until time.Time
}

// first returns the first hold that selects a retry of a function; nil if none does. It is called with mu held.
func (h *holds) first(scope aws.Scope, function string, r *Retry) *engine.Hold {
	for i := range h.list[scope] {
		if x := &h.list[scope][i]; x.Selects(function, r.Error, r.Name) {
			return x
		}
	}
	return nil
}

// functionIn returns the account, the region and the name of the function in the ARN of an execution.
func functionIn(arn string) (aws.Scope, string) {
	a, _ := aws.ParseARN(arn)
	name, _, _ := strings.Cut(strings.TrimPrefix(a.Resource, "function:"), ":")
	return a.Scope(), name
}

// Hold stops the retries of STEPs that h selects in an account and region, as engine.Engine.Hold does for those of
// states: h.Machine is the function's name, and h.State the name of the STEP, or its ID if it has none. The STEP stays
// PENDING, and its function is not invoked for it. The service forgets holds when it closes; the caller that stores
// them calls Hold before Resume.
func (s *Service) Hold(scope aws.Scope, h engine.Hold) {
	if h.Since.IsZero() {
		h.Since = s.o.Clock.Now()
	}
	s.holds.mu.Lock()
	defer s.holds.mu.Unlock()
	if slices.ContainsFunc(s.holds.list[scope], func(x engine.Hold) bool { return x.Same(&h) }) {
		return
	}
	if s.holds.list == nil {
		s.holds.list = map[aws.Scope][]engine.Hold{}
	}
	s.holds.list[scope] = append(s.holds.list[scope], h)
	s.holds.active.Store(true)
}

// Held returns the holds of an account and region with the number of their retries that are due and do not begin, in
// the order in which they began.
func (s *Service) Held(scope aws.Scope) []engine.Held {
	now := s.o.Clock.Now()
	runs := s.runsOf(scope)
	s.holds.mu.Lock()
	defer s.holds.mu.Unlock()
	all := make([]engine.Held, len(s.holds.list[scope]))
	for i, h := range s.holds.list[scope] {
		all[i].Hold = h
	}
	for _, r := range runs {
		_, function := functionIn(r.arn)
		for _, retry := range r.due(now) {
			if by := s.holds.first(scope, function, &retry); by != nil {
				all[slices.IndexFunc(all, func(x engine.Held) bool { return x.Same(by) })].Due++
			}
		}
	}
	return all
}

// Release ends the hold with the selection of h, and returns how many of its retries were due. Each of them begins when
// the rest of its wait has passed (engine.Hold.Rest), unless another hold selects it. It returns engine.ErrNoHold if
// there is no such hold.
func (s *Service) Release(scope aws.Scope, h engine.Hold) (due int, err error) {
	now := s.o.Clock.Now()
	s.o.Clock.Hold() // until all are scheduled
	defer s.o.Clock.Release()
	runs := s.runsOf(scope)
	s.holds.mu.Lock()
	defer s.holds.mu.Unlock()
	i := slices.IndexFunc(s.holds.list[scope], func(x engine.Hold) bool { return x.Same(&h) })
	if i < 0 {
		return 0, engine.ErrNoHold
	}
	by := s.holds.list[scope][i]
	if rest := slices.Delete(s.holds.list[scope], i, i+1); len(rest) > 0 {
		s.holds.list[scope] = rest
	} else {
		delete(s.holds.list, scope)
	}
	for _, r := range runs {
		_, function := functionIn(r.arn)
		n := 0
		for _, retry := range r.due(now) {
			if by.Selects(function, retry.Error, retry.Name) && s.holds.first(scope, function, &retry) == nil {
				r.postpone(&retry, now.Add(by.Rest(retry.Failed, retry.Next)))
				n++
			}
		}
		if due += n; n > 0 {
			s.goWork(func(ctx context.Context) { r.report("the release of its retries", r.reschedule(ctx)) })
		}
	}
	s.holds.active.Store(len(s.holds.list) > 0)
	return due, nil
}

// runsOf returns the executions of an account and region that have not ended.
func (s *Service) runsOf(scope aws.Scope) []*run {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*run
	for arn, r := range s.runs {
		if a, _ := aws.ParseARN(arn); a.Scope() == scope {
			all = append(all, r)
		}
	}
	return all
}

// due returns the retries of STEPs that should have begun at a time, apart from those that a release has postponed.
func (r *run) due(now time.Time) []Retry {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Retry
	for _, retry := range r.retries {
		if retry.Type != durable.TypeStep {
			continue
		}
		if p, ok := r.postponed[retry.Operation]; !retry.Next.After(now) && (!ok || !p.due.Equal(retry.Next)) {
			all = append(all, retry)
		}
	}
	return all
}

// postpone lets a retry begin later than it was due.
func (r *run) postpone(retry *Retry, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.postponed == nil {
		r.postponed = map[string]postponed{}
	}
	r.postponed[retry.Operation] = postponed{retry.Next, until}
}

// reschedule sets the timers again.
func (r *run) reschedule(ctx context.Context) error {
	st, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer r.leave()
	if !st.x.Over() {
		r.schedule(st)
	}
	return nil
}

// held returns the IDs of the STEPs whose retries are due at a time and do not begin, because a hold selects them or
// its release has postponed them, and when the next one of the latter begins. The caller has the turn.
func (r *run) held(x *durable.Execution, now time.Time) (ids []string, until time.Time) {
	h := &r.s.holds
	r.mu.Lock()
	none := len(r.postponed) == 0
	r.mu.Unlock()
	if none && !h.active.Load() {
		return nil, until
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	scope, function := functionIn(r.arn)
	later := map[string]postponed{}
	for _, retry := range retriesOf(x) {
		if retry.Next.After(now) {
			continue
		}
		p, ok := r.postponed[retry.Operation]
		switch ok = ok && p.due.Equal(retry.Next); {
		case h.first(scope, function, &retry) != nil:
		case !ok || !p.until.After(now):
			continue
		case until.IsZero() || p.until.Before(until):
			until = p.until
		}
		if ok {
			later[retry.Operation] = p
		}
		ids = append(ids, retry.Operation)
	}
	r.postponed = later
	return ids, until
}

// nextChange returns when the execution next changes by itself, as durable.Execution.Next does, with the retries that
// are held. The caller has the turn.
func (r *run) nextChange(x *durable.Execution) (change, deadline time.Time) {
	held, until := r.held(x, r.s.o.Clock.Now())
	change, deadline = x.Next(held)
	if !until.IsZero() && (change.IsZero() || until.Before(change)) {
		change = until
	}
	return change, deadline
}
