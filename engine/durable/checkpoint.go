package durable

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"stepback/engine/history"
)

// State is the response to a checkpoint: the next token and the operations that the function does not know yet.
type State struct {
	Token      string
	Operations []*Operation
}

// State returns the response to the latest checkpoint, and notes that the function knows those operations.
func (x *Execution) State() State {
	s := State{Token: x.Token()}
	for _, id := range x.last.operations {
		s.Operations = append(s.Operations, x.byID[id])
	}
	return s
}

// Poll answers a checkpoint without updates. It changes nothing that must be kept.
func (x *Execution) Poll(token string) (State, error) {
	if x.Over() {
		return State{}, x.late(&Command{Checkpoint: &Checkpoint{}})
	}
	if err := x.checkToken(token); err != nil {
		return State{}, err
	}
	x.answer(token, "")
	return x.State(), nil
}

// Repeats reports whether a checkpoint is the latest one again.
func (x *Execution) Repeats(c *Checkpoint) bool {
	return c.ClientToken != "" && c.ClientToken == x.last.clientToken && c.Token == x.last.token && x.invoking
}

// answer notes the response to a checkpoint.
func (x *Execution) answer(token, clientToken string) {
	x.sequence++
	x.last = answered{token, clientToken, x.since(x.seen)}
	x.seen = x.changes
}

// checkpoint applies the updates of a checkpoint: all or none.
func (x *Execution) checkpoint(l *log, c *Checkpoint, again bool) error {
	if !again {
		if err := x.checkToken(c.Token); err != nil {
			return err
		}
	}
	s := &staging{x: x, c: c, changed: map[string]*Operation{}, log: &log{x: x, now: l.now, first: x.events,
		again: again, held: l.held}}
	for i := range c.Updates {
		if err := s.update(&c.Updates[i], i == len(c.Updates)-1); err != nil {
			return err
		}
	}
	if err := s.limits(); err != nil {
		return err
	}
	s.apply(l)
	x.due(l)
	x.answer(c.Token, c.ClientToken)
	return nil
}

// staging collects what a checkpoint changes until all of its updates have been found valid.
type staging struct {
	x       *Execution
	c       *Checkpoint
	log     *log
	changed map[string]*Operation
	order   []*Operation // changed operations, in the order of their first update
	actions map[string][]string
	added   int
	counted int
	written int
	outcome *Outcome
}

// of returns the operation as the earlier updates have left it, or nil.
func (s *staging) of(id string) *Operation {
	if o := s.changed[id]; o != nil {
		return o
	}
	return s.x.byID[id]
}

// edit returns the operation that an update changes, or a new one.
func (s *staging) edit(u *Update) *Operation {
	if o := s.changed[u.Id]; o != nil {
		return o
	}
	o := &Operation{ID: u.Id, ParentID: u.ParentId, Name: u.Name, Type: u.Type, SubType: u.SubType, Start: s.log.now}
	if old := s.x.byID[u.Id]; old != nil {
		*o = *old
	} else {
		s.added++
		s.counted++
	}
	s.changed[u.Id] = o
	s.order = append(s.order, o)
	return o
}

func (s *staging) limits() error {
	x := s.x
	switch {
	case x.counted+s.counted > MaxOperations:
		return invalid(fmt.Sprintf("The durable execution has reached its limit of %d operations.", MaxOperations))
	case x.written+s.written > MaxWritten:
		return invalid(fmt.Sprintf("The durable execution has reached its limit of %d bytes of checkpointed data.", MaxWritten))
	}
	return nil
}

// apply makes the changes.
func (s *staging) apply(l *log) {
	x := s.x
	for _, o := range s.order {
		if old := x.byID[o.ID]; old != nil {
			*old = *o
			x.touch(old)
		} else {
			x.add(o)
		}
	}
	x.counted += s.counted
	x.written += s.written
	if s.outcome != nil {
		x.outcome = s.outcome
	}
	maps.Copy(x.steps, s.log.steps)
	l.events = append(l.events, s.log.events...)
	x.events += int64(len(s.log.events))
}

func tooLong(what string, limit int) *Refusal {
	return &Refusal{InvalidParameterValue, fmt.Sprintf("%s payload size must be less than or equal to %d bytes.", what, limit)}
}

// actions lists the actions of each type of operation.
var actions = map[string][]string{
	TypeStep:          {ActionStart, ActionSucceed, ActionFail, ActionRetry},
	TypeContext:       {ActionStart, ActionSucceed, ActionFail},
	TypeWait:          {ActionStart, ActionCancel},
	TypeCallback:      {ActionStart},
	TypeChainedInvoke: {ActionStart, ActionCancel},
	TypeExecution:     {ActionSucceed, ActionFail},
}

// update applies one update to the staged state.
func (s *staging) update(u *Update, last bool) error {
	allowed, known := actions[u.Type]
	switch {
	case !known:
		return invalid("Unknown operation type.")
	case !slices.Contains(allowed, u.Action):
		return invalid("Invalid action for the given operation type.")
	case u.Action == ActionFail && u.Payload != nil:
		return invalid("Cannot provide a Payload for FAIL action.")
	case u.Action == ActionSucceed && u.Error != nil:
		return invalid("Cannot provide an Error for SUCCEED action.")
	}
	limit, what := MaxPayload, u.Type+" output"
	if u.Type == TypeExecution {
		limit = MaxFinal
	}
	if u.Action == ActionStart {
		what = u.Type + " input"
	}
	if len(text(u.Payload)) > limit {
		return tooLong(what, limit)
	}
	if u.Error.size() > MaxPayload {
		return tooLong(u.Type+" error", MaxPayload)
	}
	if u.Type == TypeExecution {
		return s.execution(u, last)
	}
	if err := s.consistent(u); err != nil {
		return err
	}
	s.written += len(text(u.Payload)) + u.Error.size()
	if u.Action == ActionCancel {
		return s.cancel(u)
	}
	switch u.Type {
	case TypeStep:
		return s.step(u)
	case TypeContext:
		return s.context(u)
	case TypeWait:
		return s.wait(u)
	case TypeCallback:
		return s.callback(u)
	}
	return s.invoke(u)
}

func (s *staging) execution(u *Update, last bool) error {
	switch {
	case s.outcome != nil || s.x.outcome != nil:
		return invalid("Cannot checkpoint multiple EXECUTION updates.")
	case !last:
		return invalid("EXECUTION checkpoint must be the last update.")
	}
	s.written += len(text(u.Payload)) + u.Error.size()
	s.outcome = &Outcome{Status: Succeeded, Result: u.Payload}
	if u.Action == ActionFail {
		s.outcome = &Outcome{Status: Failed, Error: u.Error}
	}
	return nil
}

// consistent checks that an update fits the operation that it is about, and has a CONTEXT as its parent.
func (s *staging) consistent(u *Update) error {
	if s.actions == nil {
		s.actions = map[string][]string{}
	}
	before := s.actions[u.Id]
	if len(before) > 0 {
		may := u.Type == TypeStep || u.Type == TypeContext
		if !may || len(before) > 1 || before[0] != ActionStart || u.Action == ActionStart {
			return invalid("Cannot checkpoint multiple operations with the same ID: " + s.named(u) + ".")
		}
	}
	s.actions[u.Id] = append(before, u.Action)
	if u.ParentId != "" {
		if p := s.of(u.ParentId); p == nil || p.Type != TypeContext {
			return invalid(fmt.Sprintf("Invalid parent operation id: %s names %s, which is no CONTEXT of this execution.",
				s.named(u), u.ParentId))
		}
	}
	o := s.of(u.Id)
	switch {
	case o == nil:
	case o.Type != u.Type:
		return invalid(s.diverges(u, "type", o.Type, u.Type))
	case u.SubType != "" && u.SubType != o.SubType:
		return invalid(s.diverges(u, "subtype", o.SubType, u.SubType))
	case u.Name != "" && u.Name != o.Name:
		return invalid(s.diverges(u, "name", o.Name, u.Name))
	case u.ParentId != "" && u.ParentId != o.ParentID:
		return invalid(s.diverges(u, "parent", o.ParentID, u.ParentId))
	}
	return nil
}

// diverges describes an update that does not fit what the history says about its operation.
func (s *staging) diverges(u *Update, what, was, is string) string {
	return fmt.Sprintf("Inconsistent operation %s: %s has the %s %q in the history, and %q in the update.",
		what, s.named(u), what, was, is)
}

// named returns the ID of the operation that an update is about, and its name if it has one.
func (s *staging) named(u *Update) string {
	name := u.Name
	if o := s.of(u.Id); o != nil && o.Name != "" {
		name = o.Name
	}
	if name == "" {
		return "operation " + u.Id
	}
	return fmt.Sprintf("operation %s (%s)", u.Id, name)
}

// unfit refuses an update for an operation that does not have a status that allows it. problem is AWS's message without
// its full stop.
func (s *staging) unfit(u *Update, problem string) error {
	status := "has not started"
	if o := s.of(u.Id); o != nil {
		status = "is " + o.Status
	}
	return invalid(fmt.Sprintf("%s: %s %s.", problem, s.named(u), status))
}

func (s *staging) step(u *Update) error {
	o := s.of(u.Id)
	if u.Action == ActionStart {
		if o != nil && o.Status != Ready &&
			(o.Status != Pending || o.Next.After(s.log.now) || slices.Contains(s.log.held, o.ID)) {
			return s.unfit(u, "Invalid current STEP state to start")
		}
		o = s.edit(u)
		o.Status, o.Next, o.Held = Started, time.Time{}, false
		s.log.add(history.DurableStepStarted, o, &body{StepStartedDetails: &struct{}{}})
		return nil
	}
	if o != nil && o.Status != Started && o.Status != Ready {
		return s.unfit(u, "Invalid current STEP state to close")
	}
	retry := &retryDetails{CurrentAttempt: 1}
	if o != nil {
		retry.CurrentAttempt = o.Attempt + 1
	}
	if u.Action == ActionRetry {
		switch {
		case u.Error != nil && u.Payload != nil:
			return invalid("Cannot provide both error and payload to RETRY a STEP.")
		case u.StepOptions == nil || u.StepOptions.NextAttemptDelaySeconds < 1 ||
			u.StepOptions.NextAttemptDelaySeconds > MaxTimeout:
			return invalid(fmt.Sprintf("Invalid StepOptions for the given action: NextAttemptDelaySeconds must be between 1 and %d.",
				MaxTimeout))
		}
		retry.NextAttemptDelaySeconds = u.StepOptions.NextAttemptDelaySeconds
	}
	o = s.edit(u)
	o.Result, o.Error = u.Payload, u.Error
	switch u.Action {
	case ActionRetry:
		s.counted++
		o.Status, o.Attempt, o.Latest = Pending, o.Attempt+1, s.log.now
		o.Next = s.log.now.Add(time.Duration(retry.NextAttemptDelaySeconds) * time.Second)
	case ActionSucceed:
		o.Status, o.End = Succeeded, s.log.now
	default:
		o.Status, o.End = Failed, s.log.now
	}
	if u.Action == ActionFail || u.Action == ActionRetry && u.Error != nil {
		s.log.add(history.DurableStepFailed, o, &body{StepFailedDetails: &stepFailed{problem(u.Error), retry}})
		return nil
	}
	s.log.add(history.DurableStepSucceeded, o, &body{StepSucceededDetails: &stepSucceeded{payload(u.Payload), retry}})
	return nil
}

func (s *staging) context(u *Update) error {
	o := s.of(u.Id)
	if u.Action == ActionStart {
		if o != nil {
			return s.unfit(u, "Cannot start a CONTEXT that already exist")
		}
		o = s.edit(u)
		o.Status = Started
		s.log.add(history.DurableContextStarted, o, &body{ContextStartedDetails: &struct{}{}})
		return nil
	}
	if o != nil && o.Status != Started {
		return s.unfit(u, "Invalid current CONTEXT state to close")
	}
	o = s.edit(u)
	o.Result, o.Error, o.End = u.Payload, u.Error, s.log.now
	o.ReplayChildren = u.ContextOptions != nil && u.ContextOptions.ReplayChildren
	o.Status = Succeeded
	if u.Action == ActionFail {
		o.Status = Failed
	}
	s.log.end(o)
	return nil
}

// cancel ends a WAIT or a CHAINED_INVOKE that has not ended. Its error is only in the history.
func (s *staging) cancel(u *Update) error {
	if o := s.of(u.Id); o == nil || o.Status != Started {
		return s.unfit(u, "Cannot cancel a "+u.Type+" that does not exist or has already completed")
	}
	o := s.edit(u)
	o.Status, o.End = Cancelled, s.log.now
	t := endings[o.Type][Cancelled]
	s.log.add(t, o, ended(t, nil, u.Error))
	return nil
}

func (s *staging) wait(u *Update) error {
	switch {
	case s.of(u.Id) != nil:
		return s.unfit(u, "Cannot start a WAIT that already exist")
	case u.WaitOptions == nil || u.WaitOptions.WaitSeconds < 1 || u.WaitOptions.WaitSeconds > MaxTimeout:
		return invalid(fmt.Sprintf("Invalid WaitOptions: WaitSeconds must be between 1 and %d.", MaxTimeout))
	}
	o := s.edit(u)
	o.Status, o.Wait = Started, u.WaitOptions.WaitSeconds
	o.Due = s.log.now.Add(time.Duration(o.Wait) * time.Second)
	s.log.add(history.DurableWaitStarted, o, &body{WaitStartedDetails: &waitStarted{o.Wait, Seconds(o.Due)}})
	return nil
}

func (s *staging) callback(u *Update) error {
	if s.of(u.Id) != nil {
		return s.unfit(u, "Cannot start a CALLBACK that already exist")
	}
	o := s.edit(u)
	o.Status, o.CallbackID = Started, s.x.callbackID(u.Id)
	if c := u.CallbackOptions; c != nil {
		if c.TimeoutSeconds < 0 || c.TimeoutSeconds > MaxTimeout || c.HeartbeatTimeoutSeconds < 0 ||
			c.HeartbeatTimeoutSeconds > MaxTimeout {
			return invalid(fmt.Sprintf("Invalid CallbackOptions: timeouts must be between 0 and %d.", MaxTimeout))
		}
		o.Timeout, o.Heartbeat = c.TimeoutSeconds, c.HeartbeatTimeoutSeconds
		if o.Timeout > 0 {
			o.Due = s.log.now.Add(time.Duration(o.Timeout) * time.Second)
		}
		if o.Heartbeat > 0 {
			o.Silent = s.log.now.Add(time.Duration(o.Heartbeat) * time.Second)
		}
	}
	s.log.add(history.DurableCallbackStarted, o, &body{CallbackStartedDetails: &callbackStarted{
		o.CallbackID, o.Heartbeat, o.Timeout}})
	return nil
}

func (s *staging) invoke(u *Update) error {
	switch {
	case s.of(u.Id) != nil:
		return s.unfit(u, "Cannot start a CHAINED_INVOKE that already exist")
	case u.ChainedInvokeOptions == nil || u.ChainedInvokeOptions.FunctionName == "":
		return invalid("Invalid ChainedInvokeOptions: FunctionName is required.")
	}
	o := s.edit(u)
	o.Status = Started
	o.Chained = &Chained{*u.ChainedInvokeOptions, s.c.Targets[u.Id], u.Payload}
	s.log.add(history.DurableInvokeStarted, o, &body{ChainedInvokeStartedDetails: &invokeStarted{
		FunctionName: o.Chained.FunctionName, TenantId: o.Chained.TenantId, Input: payload(u.Payload),
		ExecutedVersion: o.Chained.Version, DurableExecutionArn: o.Chained.ARN}})
	return nil
}
