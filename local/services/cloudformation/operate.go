package cloudformation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"

	"stepback/engine/clock"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/template"
)

// deployment is a running operation of a stack.
type deployment struct {
	s  *Service
	st *stack
	op *operation
	c  *compiled // the template being deployed; nil while a stack is deleted
	// ctx is the context of calls, and waits has those waits of the phase that end when the deployment is given up.
	ctx   context.Context
	waits *waits
	env   template.Env

	settled *settled // of the template being deployed
}

// operate executes the operation of a stack from its present phase.
func (s *Service) operate(ctx context.Context, st *stack) {
	s.mu.Lock()
	d := &deployment{s: s, st: st, op: st.Operation}
	id := d.op.ID
	d.ctx = context.WithValue(ctx, identityKey{}, d.identity())
	s.mu.Unlock()
	phases := map[string]func() error{phaseApply: d.apply, phaseCleanup: d.cleanup, phaseRollback: d.rollback,
		phaseRollbackCleanup: d.rollbackCleanup, phaseDelete: d.delete}
	for d.op != nil {
		var stop func()
		d.waits, stop = d.limited()
		err := phases[d.op.Phase]()
		stop()
		if s.ctx.Err() != nil {
			break // it continues when the store is opened again
		}
		if err != nil {
			s.opts.Log.Error("a deployment stands still", "stack", st.Name, "error", err)
			break // the store rejects writes
		}
		s.mu.Lock()
		if d.op = st.Operation; d.op != nil && d.op.ID != id {
			d.op = nil
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st.running = false
	switch {
	case st.Operation == nil:
		for _, b := range st.ended {
			b.Ring()
		}
		st.ended = nil
	case d.op == nil:
		// A request has begun the next operation once the last one was stored as ended. Nothing else runs it.
		s.launch(st)
	}
}

var (
	errTimeout   = errors.New("Stack creation time exceeded the specified timeout") //nolint:staticcheck // AWS's words
	errCancelled = errors.New("Resource creation cancelled")                        //nolint:staticcheck // AWS's words
	errUser      = errors.New("User Initiated")                                     //nolint:staticcheck // AWS's words
)

// cancellation returns the error for the stored reason of a cancelled operation.
func cancellation(reason string) error {
	for _, err := range []error{errTimeout, errCancelled, errUser} {
		if err.Error() == reason {
			return err
		}
	}
	return errors.New(reason)
}

// cancel gives up the running creation or update of a stack, now and after a restart. A creation is undone as
// onFailure says, unless it is empty. The caller holds mu.
func (k *keeper) cancel(st *stack, onFailure string, cause error) {
	if op := st.Operation; op.Kind == opCreate && onFailure != "" {
		op.OnFailure, op.DisableRollback = onFailure, false
	}
	st.Operation.Cancelled = cause.Error()
	k.stack(st)
	if st.giveUp != nil {
		st.giveUp(cause)
	}
}

// limited returns the waits of the current phase, and a function that releases them. They end when the operation's
// deadline passes or the operation is cancelled.
func (d *deployment) limited() (*waits, func()) {
	w := newWaits(d.ctx, d.s.opts.Clock)
	d.s.mu.Lock()
	d.st.giveUp = w.giveUp
	if d.op.Phase == phaseApply && d.op.Cancelled != "" { // before this phase began, or before a restart
		w.giveUp(cancellation(d.op.Cancelled))
	}
	d.s.mu.Unlock()
	var timer *clock.Timer
	if d.op.Phase == phaseApply && d.op.Deadline > 0 {
		timer = d.s.opts.Clock.ScheduleInBackground(instant(d.op.Deadline),
			clock.AlarmFunc(func() { w.giveUp(errTimeout) }))
	}
	return w, func() {
		if timer != nil {
			timer.Stop()
		}
		w.giveUp(nil)
	}
}

// walk calls f for each ID once the IDs that it needs are done, several at a time. After an error, it starts no more
// if stop is true; otherwise it skips those that need a failed one. It returns the errors by ID.
func (d *deployment) walk(
	ids []string,
	needs func(string) []string,
	stop bool,
	f func(ctx context.Context, id string) error,
) map[string]error {
	among := map[string]bool{}
	for _, id := range ids {
		among[id] = true
	}
	open, dependents := map[string]int{}, map[string][]string{}
	var ready []string
	for _, id := range ids {
		for _, n := range needs(id) {
			if among[n] {
				open[id]++
				dependents[n] = append(dependents[n], id)
			}
		}
		if open[id] == 0 {
			ready = append(ready, id)
		}
	}
	type result struct {
		id  string
		err error
	}
	results, arrived := make(chan result, len(ids)), d.s.opts.Clock.NewBell()
	failed := map[string]error{}
	running := 0
	for {
		for len(ready) > 0 && running < d.s.opts.Parallel && d.s.ctx.Err() == nil &&
			(!stop || len(failed) == 0 && d.waits.ctx.Err() == nil) {
			id := ready[0]
			ready = ready[1:]
			running++
			ctx, work := d.s.opts.Clock.Begin(d.ctx, 0)
			go func() {
				defer work.End()
				results <- result{id, guarded(func() error { return f(ctx, id) })}
				arrived.Ring()
			}()
		}
		if running == 0 {
			return failed
		}
		for len(results) == 0 {
			_ = arrived.Await(context.WithoutCancel(d.ctx)) // all end before the deployment does
		}
		r := <-results
		running--
		if r.err != nil {
			failed[r.id] = r.err
			if stop {
				d.waits.giveUp(errCancelled)
			}
			continue
		}
		for _, id := range dependents[r.id] {
			if open[id]--; open[id] == 0 {
				ready = append(ready, id)
			}
		}
	}
}

// guarded turns a panic into an error, so that a bug in one resource type fails only its resource.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal failure: %v", p)
		}
	}()
	return f()
}

// begin compiles the template of the phase, and the environment of its functions.
func (d *deployment) begin(of *deployed) error {
	d.s.mu.Lock()
	to := *of // which other goroutines read in the meantime
	d.s.mu.Unlock()
	c, err := d.s.compile(d.st.scope(), d.st.Name, d.st.ID, &to)
	if err != nil {
		return err
	}
	d.s.mu.Lock()
	of.Processed, of.Description = to.Processed, to.Description
	d.s.mu.Unlock()
	d.c = c
	d.env = *c.env
	d.env.Ref, d.env.Attribute = d.ref, d.attribute
	d.env.Import = d.importValue
	d.env.Dynamic = d.s.dynamicOf(d.ctx, d.st.scope())
	d.settled = &settled{s: d.s, st: d.st, c: c, to: of, changes: d.changed}
	return nil
}

// changed reports whether the operation has changed a resource.
func (d *deployment) changed(id string) bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	r := d.st.resources[id]
	return r == nil || r.Operation == d.op.ID
}

// identity returns with whose permissions the stack's resources are created: its role's, or those of the client that
// asked for the operation.
func (d *deployment) identity() resource.Identity {
	return resource.Identity{Role: cmp.Or(d.op.Target.RoleARN, d.st.RoleARN), Caller: d.op.Caller}
}

// tagsOf returns the tags that a resource has or gets in addition to its own: those of the stack and
// CloudFormation's.
func (st *stack) tagsOf(id string, of *made) map[string]string {
	if !of.SystemTags {
		return of.Tags
	}
	return resource.WithSystemTags(of.Tags, of.Type, st.Name, st.ID, id)
}

// request returns the request to a resource's type.
func (d *deployment) request(r *record, of made, previous *made) *resource.Request {
	q := &resource.Request{
		API:        d.s.opts.API(d.st.scope(), d.identity()),
		Scope:      d.st.scope(),
		Stack:      d.st.Name,
		StackID:    d.st.ID,
		LogicalID:  r.ID,
		Suffix:     of.Suffix,
		Type:       of.Type,
		ID:         of.Physical,
		Properties: of.Properties,
		Tags:       d.st.tagsOf(r.ID, &of),
		Attributes: of.Attributes,
		GiveUp:     d.waits.ctx,
	}
	if previous != nil {
		q.Previous, q.PreviousTags = previous.Properties, d.st.tagsOf(r.ID, previous)
		if q.Previous == nil {
			q.Previous = map[string]any{}
		}
	}
	q.Wait = d.waits.sleep
	return q
}

func sortedIDs(m map[string]*record) []string {
	ids := slices.Collect(maps.Keys(m))
	sort.Strings(ids)
	return ids
}
