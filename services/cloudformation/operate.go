package cloudformation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/services/cloudformation/resource"
	"stepback/services/cloudformation/template"
)

// deployment is an operation of a stack under way.
type deployment struct {
	s  *Service
	st *stack
	op *operation
	c  *compiled // what is deployed; nil while a stack is deleted
	// ctx is that of calls; waits ends when the deployment gives up.
	ctx    context.Context
	waits  context.Context
	giveUp context.CancelCauseFunc
	env    template.Env
}

// operate carries the operation of a stack out, from the phase in which it is.
func (s *Service) operate(st *stack) {
	ctx, work := s.opts.Clock.Begin(s.ctx, 0)
	defer work.End()
	d := &deployment{s: s, st: st, op: st.Operation, ctx: ctx}
	phases := map[string]func() error{phaseApply: d.apply, phaseCleanup: d.cleanup, phaseRollback: d.rollback,
		phaseRollbackCleanup: d.rollbackCleanup, phaseDelete: d.delete}
	for d.op != nil {
		var stop func()
		d.waits, stop = d.limited()
		err := phases[d.op.Phase]()
		stop()
		if s.ctx.Err() != nil {
			break // it goes on when the store is opened again
		}
		if err != nil {
			s.opts.Log.Error("a deployment stands still", "stack", st.Name, "error", err)
			break // the store refuses to write
		}
		s.mu.Lock()
		d.op = st.Operation
		s.mu.Unlock()
	}
	s.mu.Lock()
	st.running = false
	if st.Operation == nil {
		close(st.ended)
		st.ended = make(chan struct{})
	}
	s.mu.Unlock()
}

var (
	errTimeout   = errors.New("Stack creation time exceeded the specified timeout") //nolint:staticcheck // AWS's words
	errCancelled = errors.New("Resource creation cancelled")                        //nolint:staticcheck // AWS's words
	errUser      = errors.New("User Initiated")                                     //nolint:staticcheck // AWS's words
)

// limited is the context of waits in a phase.
func (d *deployment) limited() (context.Context, func()) {
	ctx, giveUp := context.WithCancelCause(d.ctx)
	d.giveUp = giveUp
	d.s.mu.Lock()
	d.st.giveUp = giveUp
	d.s.mu.Unlock()
	var timer *clock.Timer
	if d.op.Phase == phaseApply && d.op.Deadline > 0 {
		timer = d.s.opts.Clock.ScheduleInBackground(instant(d.op.Deadline),
			clock.AlarmFunc(func() { giveUp(errTimeout) }))
	}
	return ctx, func() {
		if timer != nil {
			timer.Stop()
		}
		giveUp(nil)
	}
}

// walk calls f for each ID as soon as those that it needs are done, several at a time. After an error, no more are
// begun when stop is set; otherwise those that need what failed are left out. It returns the errors by ID.
func (d *deployment) walk(ids []string, needs func(string) []string, stop bool, f func(ctx context.Context, id string) error,
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
	results := make(chan result)
	failed := map[string]error{}
	running := 0
	for {
		for len(ready) > 0 && running < d.s.opts.Parallel && d.s.ctx.Err() == nil &&
			(!stop || len(failed) == 0 && d.waits.Err() == nil) {
			id := ready[0]
			ready = ready[1:]
			running++
			go func() {
				ctx, work := d.s.opts.Clock.Begin(d.ctx, 0)
				defer work.End()
				results <- result{id, guarded(func() error { return f(ctx, id) })}
			}()
		}
		if running == 0 {
			return failed
		}
		resume := d.s.opts.Clock.Yield(d.ctx)
		r := <-results
		resume()
		running--
		if r.err != nil {
			failed[r.id] = r.err
			if stop {
				d.giveUp(errCancelled)
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

// guarded makes an error of a panic: a mistake in one type of resources fails its resource only.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal failure: %v", p)
		}
	}()
	return f()
}

// begin compiles the template that the phase works with, and the environment of its functions.
func (d *deployment) begin(of *deployed) error {
	d.s.mu.Lock()
	to := *of // which others look at meanwhile
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
	return nil
}

func (d *deployment) ref(id string) (any, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	r := d.st.resources[id]
	if r == nil || !r.there() {
		return nil, invalid("Template error: %s is referred to and not there", id)
	}
	return r.ref(), nil
}

// ref is what a Ref gives.
func (r *made) ref() string {
	if r.Ref != "" {
		return r.Ref
	}
	return r.Physical
}

// there reports whether a resource is there, as far as its record knows.
func (r *record) there() bool {
	return r.Physical != "" && r.Status != "DELETE_COMPLETE" && r.Status != "DELETE_SKIPPED"
}

func (d *deployment) attribute(id, name string) (any, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	r := d.st.resources[id]
	if r == nil || !r.there() {
		return nil, invalid("Template error: %s is referred to and not there", id)
	}
	return r.attribute(name)
}

func (r *record) attribute(name string) (any, error) {
	if v, ok := r.Attributes[name]; ok {
		return v, nil
	}
	if isCustom(r.Type) {
		return nil, invalid("CustomResource attribute error: Vendor response doesn't contain %s key in object %s", name,
			r.Physical)
	}
	// Attributes of objects, such as Endpoint.Address, are found by their parts.
	head, rest, ok := strings.Cut(name, ".")
	if m, isObject := r.Attributes[head].(map[string]any); ok && isObject {
		if v, ok := m[rest]; ok {
			return v, nil
		}
	}
	return nil, invalid("Template error: resource %s does not support attribute type %s in Fn::GetAtt", r.ID, name)
}

// importValue is the value of an export of another stack, which the stack uses from now on.
func (d *deployment) importValue(name string) (string, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	value, _, ok := d.s.export(d.st.scope(), name)
	if !ok {
		return "", invalid("No export named %s found.", name)
	}
	return value, nil
}

// apply makes and changes the resources of the target.
func (d *deployment) apply() error {
	failed := map[string]error{}
	var reason string
	var outputs []output
	err := d.begin(&d.op.Target)
	if err == nil {
		failed = d.walk(d.c.graph.IDs, func(id string) []string { return d.c.graph.Needs[id] }, true, d.bring)
	}
	if d.s.ctx.Err() != nil {
		return nil //nolint:nilerr // the next start goes on
	}
	if err == nil && len(failed) == 0 {
		if cause := context.Cause(d.waits); cause != nil {
			err = cause
		}
	}
	if err == nil && len(failed) == 0 {
		outputs, err = d.outputs()
	}
	switch {
	case len(failed) > 0 && errors.Is(context.Cause(d.waits), errTimeout):
		reason = errTimeout.Error()
	case len(failed) > 0:
		verb := "create"
		if d.op.Kind == opUpdate {
			verb = d.verbs(failed)
		}
		reason = fmt.Sprintf("The following resource(s) failed to %s: [%s]. ", verb, strings.Join(failedNames(failed), ", "))
	case err != nil:
		reason = why(err)
	}
	if reason != "" {
		return d.failed(reason)
	}
	return d.s.change(func(k *keeper) error {
		st, op := d.st, d.op
		st.deployed = op.Target
		st.Outputs = outputs
		st.Imports = d.imports()
		st.DisableRollback = op.DisableRollback
		k.text(st, textCurrent, st.Template)
		k.text(st, textProcessed, st.Processed)
		if op.Kind == opCreate {
			d.settle(k)
			d.end(k, "CREATE_COMPLETE", "")
			return nil
		}
		op.Phase = phaseCleanup
		st.Updated = d.s.now().UnixMilli()
		k.status(st, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "")
		return nil
	})
}

func failedNames(failed map[string]error) []string { return slices.Sorted(maps.Keys(failed)) }

// verbs is what failed: create, update or both.
func (d *deployment) verbs(failed map[string]error) string {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	created, updated := false, false
	for id := range failed {
		r := d.st.resources[id]
		created = created || r == nil || r.Doing == doCreate
		updated = updated || r != nil && r.Doing != doCreate
	}
	if created && updated {
		return "create or update"
	}
	if created {
		return "create"
	}
	return "update"
}

// failed begins what follows a failure.
func (d *deployment) failed(reason string) error {
	return d.s.change(func(k *keeper) error {
		st, op := d.st, d.op
		op.Failure = reason
		switch {
		case op.Kind == opCreate && (op.OnFailure == "DO_NOTHING" || op.DisableRollback):
			st.deployed = op.Target
			k.text(st, textCurrent, st.Template)
			k.text(st, textProcessed, st.Processed)
			st.Paused = op
			d.end(k, "CREATE_FAILED", reason)
		case op.Kind == opCreate && op.OnFailure == "DELETE":
			op.Phase = phaseDelete
			k.status(st, "DELETE_IN_PROGRESS", reason+"Delete requested by user.")
		case op.Kind == opCreate:
			op.Phase = phaseRollback
			k.status(st, "ROLLBACK_IN_PROGRESS", reason+"Rollback requested by user.")
		case op.DisableRollback:
			st.Paused = op
			d.end(k, "UPDATE_FAILED", reason)
		default:
			op.Phase = phaseRollback
			k.status(st, "UPDATE_ROLLBACK_IN_PROGRESS", reason)
		}
		return nil
	})
}

// end ends the operation. mu is held.
func (d *deployment) end(k *keeper, status, reason string) {
	k.status(d.st, status, reason) // while the operation is there, so that the event has its token
	d.st.Operation = nil
	if d.st.Paused != d.op {
		d.st.Paused = nil
		k.b.Delete(d.s.table, d.st.textKey(textTarget))
		k.b.Delete(d.s.table, d.st.textKey(textExpanded))
	}
	k.stack(d.st)
}

// settle forgets how the resources were before. mu is held.
func (d *deployment) settle(k *keeper) {
	for _, r := range d.st.resources {
		if r.Before != nil || r.New || len(r.Trash) > 0 {
			r.Before, r.New, r.Trash = nil, false, nil
			k.resource(d.st, r)
		}
	}
}

// imports are the names of the exports that the template uses.
func (d *deployment) imports() []string {
	names := map[string]bool{}
	env := d.env
	env.Import = func(name string) (string, error) { names[name] = true; return "", nil }
	env.Ref = func(string) (any, error) { return "", nil }
	env.Attribute = func(string, string) (any, error) { return "", nil }
	env.Dynamic = nil
	visit := func(v any) {
		importsOf(v, func(arg any) { _, _ = env.Evaluate(map[string]any{"Fn::ImportValue": arg}) })
	}
	for _, id := range d.c.graph.IDs {
		visit(d.c.Resource(id).Properties)
	}
	for _, o := range d.c.Outputs {
		visit(o.Value)
	}
	return slices.Sorted(maps.Keys(names))
}

func importsOf(v any, found func(any)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			importsOf(e, found)
		}
	case map[string]any:
		for k, e := range v {
			if k == "Fn::ImportValue" {
				found(e)
			}
			importsOf(e, found)
		}
	}
}

// outputs evaluates the outputs, and checks the exports against those of other stacks.
func (d *deployment) outputs() ([]output, error) {
	var all []output
	for _, o := range d.c.Outputs {
		if o.Condition != "" && !d.c.conditions[o.Condition] {
			continue
		}
		v, err := d.env.Evaluate(o.Value)
		if err != nil {
			return nil, err
		}
		text, ok := template.TextOf(v)
		if !ok {
			return nil, invalid("Template format error: The Value field of every Outputs member must evaluate to a String (%s).", o.ID)
		}
		made := output{Key: o.ID, Value: text, Description: o.Description}
		if o.Export != nil {
			name, err := d.env.Evaluate(o.Export)
			if err != nil {
				return nil, err
			}
			if made.Export, ok = template.TextOf(name); !ok || made.Export == "" {
				return nil, invalid("Template error: the Name of the export of output %s must be a string", o.ID)
			}
		}
		all = append(all, made)
	}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return all, d.s.checkExports(d.st, all)
}

// why is an error for people: what a service said, without the words around it.
func why(err error) string {
	var e smithy.APIError
	var a *aws.Error
	switch {
	case errors.As(err, &e):
		if e.ErrorMessage() == "" {
			return e.ErrorCode()
		}
		return e.ErrorMessage()
	case errors.As(err, &a):
		return a.Message
	}
	return err.Error()
}

// reasonOf is why a resource failed, as its events say.
func (d *deployment) reasonOf(r *record, err error) string {
	var p *resource.PropertyError
	var e smithy.APIError
	var t *template.Error
	switch {
	case errors.Is(err, errTimeout), errors.Is(err, errCancelled), errors.Is(err, errUser):
		if r.Doing != doCreate {
			return "Resource update cancelled"
		}
		return errCancelled.Error()
	case errors.As(err, &p):
		return (&resource.PropertyError{LogicalID: r.ID, Type: r.Type, Problems: p.Problems}).Error()
	case errors.As(err, &t):
		return t.Message
	case errors.As(err, &e):
		return fmt.Sprintf("Resource handler returned message: \"%s (%s)\" (RequestToken: %s, HandlerErrorCode: %s)",
			why(err), e.ErrorCode(), d.op.ID, handlerCode(e.ErrorCode()))
	}
	return why(err)
}

// handlerCode is the kind of failure that CloudFormation's handlers tell.
func handlerCode(code string) string {
	switch {
	case strings.Contains(code, "AlreadyExists"), strings.Contains(code, "AlreadyOwned"):
		return "AlreadyExists"
	case strings.Contains(code, "NotFound"), strings.Contains(code, "NoSuch"), strings.Contains(code, "NonExistent"):
		return "NotFound"
	case strings.Contains(code, "AccessDenied"):
		return "AccessDenied"
	case strings.Contains(code, "Throttl"):
		return "Throttling"
	case strings.Contains(code, "LimitExceeded"):
		return "ServiceLimitExceeded"
	case strings.Contains(code, "Invalid"), strings.Contains(code, "Validation"):
		return "InvalidRequest"
	}
	return "GeneralServiceException"
}

// request is what a type is asked to do for a resource.
func (d *deployment) request(r *record, of made, previous *made) *resource.Request {
	q := &resource.Request{API: d.s.opts.API(d.st.scope()), Scope: d.st.scope(), Stack: d.st.Name, StackID: d.st.ID,
		LogicalID: r.ID, Suffix: of.Suffix, Type: of.Type, ID: of.Physical, Properties: of.Properties, Tags: of.Tags,
		Attributes: of.Attributes, GiveUp: d.waits}
	if previous != nil {
		q.Previous, q.PreviousTags = previous.Properties, previous.Tags
		if q.Previous == nil {
			q.Previous = map[string]any{}
		}
	}
	q.Wait = func(ctx context.Context, wait time.Duration) error {
		// Both contexts count: that of the call holds the clock, the other one gives up.
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		//nolint:contextcheck // its end is that of the waits, too
		defer context.AfterFunc(d.waits, stop)()
		if err := d.s.opts.Clock.Sleep(ctx, wait); err != nil {
			if cause := context.Cause(d.waits); cause != nil { //nolint:contextcheck // it says why
				return cause
			}
			return err
		}
		return nil
	}
	return q
}

func sortedIDs(m map[string]*record) []string {
	ids := slices.Collect(maps.Keys(m))
	sort.Strings(ids)
	return ids
}
