package interpreter

import (
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/internal/budgets"
	"stepback/jsonvalue"
)

// MaxEvents is the maximum length of the history of a STANDARD execution.
const MaxEvents = 25_000

// transitionsPerStep is the maximum number of states that one step enters before it yields, so that a long loop
// cannot starve other executions. workPerTransition is the amount of work by expressions that counts as one more
// state. maxWork limits the work of the expressions and paths of one state, because an execution in a tight loop of
// work would hold a worker. Work is counted in the steps of jsonata.Limits; visitsPerWork nodes visited by a path
// count as one.
const (
	transitionsPerStep = 512
	workPerTransition  = 1000
	visitsPerWork      = 4
)

var maxWork = budgets.StateWork.Value

// Machine is the state machine that an execution runs.
type Machine struct {
	Plan                  *plan.Plan
	Name, RoleARN, Region string
	// Started holds RoleARN, the details of ExecutionStarted that executions share. If it is nil, each execution makes
	// its own.
	Started *history.Details
}

// Execution is one run of a state machine. It is not safe for concurrent use: the shell passes it one signal at a
// time.
type Execution struct {
	machine Machine
	info    *history.Info

	status  history.Status
	output  *jsonvalue.Document
	failure history.Failure
	lastID  int64
	start   time.Time
	secret  string // HMAC key of task tokens

	redrives int64
	redriven time.Time // time of the latest redrive
	stopped  time.Time
	closed   time.Duration // total time between ends and redrives

	root   *thread
	ready  []*thread
	waits  map[int64]*wait
	nextID int64

	// These fields are valid only during a step.
	now                      time.Time
	random                   aws.Random
	out                      *Result
	work                     int  // steps spent by expressions
	evaluations, interruptAt int  // see interruptible
	begins, hit              bool // see poll

	ending      func() bool  // see Interrupt
	polled      func() error // poll
	interrupted bool

	unusable   func(*TaskCall) string // see CheckTasks
	trial      *Trial                 // for testing a single state; nil in executions
	input      *jsonvalue.Document
	aboutRun   jsonvalue.Value // Execution in the context object
	aboutModel jsonvalue.Value // StateMachine in the context object
}

// New returns an execution of m that expects its Start signal. The caller must not modify info afterwards.
func New(m Machine, info *history.Info) *Execution {
	return &Execution{
		machine: m, info: info, status: history.Running, input: inputOf(info),
	}
}

// inputOf returns an execution's input. For a child execution, it uses the compact form of a document: the Map Run
// has written the input itself, inputs are long, and a state often reads only a small part of them.
func inputOf(info *history.Info) *jsonvalue.Document {
	if info.MapRunARN != "" {
		return jsonvalue.CompactDocument(info.Input)
	}
	return jsonvalue.TextDocument(info.Input)
}

// CheckTasks sets a function that returns why an integration cannot use the parameters of a task, or "" if it can.
// If the integration cannot use them, the task's state fails before the task is scheduled. The function must return
// the same result for the same call whenever the execution is replayed.
func (x *Execution) CheckTasks(unusable func(*TaskCall) string) { x.unusable = unusable }

// Status returns the execution's current status.
func (x *Execution) Status() history.Status { return x.status }

// Output returns the JSON text of a succeeded execution's output.
func (x *Execution) Output() string {
	if x.output == nil {
		return ""
	}
	return x.output.Text()
}

// Failure returns the failure of a failed, timed out or stopped execution.
func (x *Execution) Failure() history.Failure { return x.failure }

// Step applies one signal. It appends the events that occurred, and the effects to perform, to the result. Signals
// that arrive too late (for a cancelled task, or after the end) have no effect.
func (x *Execution) Step(e *Signal, out *Result) {
	if (x.status == history.Running) == (e.Kind == Redrive) || x.status == history.Succeeded ||
		x.interrupted && !x.ends(e) {
		return
	}
	x.now, x.random, x.out = e.At, aws.Random{Seed: e.Seed}, out
	x.interruptible(e, func() {
		x.apply(e)
		x.drain()
	})
	if e.Kind == Start || e.Kind == Redrive {
		x.scheduleLifeLimit()
	}
	x.out = nil
}

func (x *Execution) apply(e *Signal) {
	switch e.Kind {
	case Start:
		x.secret = e.Secret
		x.begin()
	case Continue:
	case Stop:
		x.stop(e.Failure)
	case Redrive:
		x.redrive()
	default:
		w := x.waits[e.ID]
		if w == nil {
			return
		}
		w.happened(x, e)
	}
}

// begin writes ExecutionStarted and makes the first state ready.
func (x *Execution) begin() {
	x.start = x.now
	x.emit(history.Event{Type: history.ExecutionStarted, Data: x.info.Input, More: x.startedDetails()})
	x.limitTime()
	x.root = &thread{state: x.machine.Plan.Root.Start, input: x.input, vars: &variables{}}
	x.ready = append(x.ready, x.root)
}

// startedDetails returns the details of ExecutionStarted. Executions that were started by their state machine's own ARN
// share them, and nothing changes them.
func (x *Execution) startedDetails() *history.Details {
	shared := x.machine.Started
	if shared != nil && shared.RoleARN == x.machine.RoleARN && x.info.VersionARN == "" && x.info.AliasARN == "" {
		return shared
	}
	return &history.Details{RoleARN: x.machine.RoleARN, VersionARN: x.info.VersionARN, AliasARN: x.info.AliasARN}
}

// expressSeconds is the longest duration of an EXPRESS execution.
const expressSeconds = 300

// limitTime sets the timer for the execution's time limit.
func (x *Execution) limitTime() {
	if limit := x.limitSeconds(); limit > 0 {
		x.timer(nil, machineTimeout, secondsOf(limit))
	}
}

// limitSeconds returns the execution's time limit; 0 means none.
func (x *Execution) limitSeconds() int64 {
	limit := x.machine.Plan.TimeoutSeconds
	if x.info.Express && (limit == 0 || limit > expressSeconds) {
		return expressSeconds
	}
	return limit
}

// MaxDuration is the longest duration of a STANDARD execution: a year, as on AWS. An execution that takes longer ends
// like one that exceeds its own TimeoutSeconds.
const MaxDuration = 365 * 24 * time.Hour

// lifeLimit is the ID of the timer that ends an execution after MaxDuration. It is outside the sequence of IDs, so
// that journals written before this timer existed stay valid.
const lifeLimit = -1

// scheduleLifeLimit sets a timer that ends the execution after MaxDuration. An execution that has ended in its first
// step needs none.
func (x *Execution) scheduleLifeLimit() {
	limit := x.limitSeconds()
	if x.status != history.Running || limit > 0 && secondsOf(limit) <= MaxDuration {
		return
	}
	w := &wait{id: lifeLimit, kind: machineTimeout, at: x.start.Add(x.closed + MaxDuration)}
	x.addWait(w)
	x.effect(Effect{Kind: SetTimer, ID: w.id, At: w.at, Background: true, Ends: true})
}

// drain runs all ready threads, until every thread waits or has ended.
func (x *Execution) drain() {
	budget := transitionsPerStep
	for len(x.ready) > 0 && x.status == history.Running {
		t := x.ready[0]
		x.ready = x.ready[1:]
		for x.status == history.Running && !t.gone && t.state != nil {
			budget -= x.work / workPerTransition
			x.work %= workPerTransition
			if budget <= 0 {
				x.ready = append([]*thread{t}, x.ready...)
				x.effect(Effect{Kind: Yield})
				return
			}
			budget--
			if !x.enter(t) {
				break
			}
		}
	}
	if len(x.ready) == 0 {
		x.ready = nil
	}
}

// emit appends an event to the history and returns its ID. In a STANDARD history, the last available event is
// reserved for the end of the execution.
func (x *Execution) emit(e history.Event) int64 {
	if x.status != history.Running {
		return x.lastID
	}
	if x.lastID == MaxEvents-1 && !x.info.Express && !e.Type.Terminal() {
		x.fail(e.Previous, history.NewFailure(plan.ErrRuntime,
			"The execution reached the maximum number of history events (25000)."))
		return x.lastID
	}
	x.lastID++
	e.ID = x.lastID
	e.Time = x.now.UnixNano()
	x.out.History = append(x.out.History, e)
	return e.ID
}

// effect requests an effect from the shell. After the end of the execution, it ignores effects that would start
// something new.
func (x *Execution) effect(e Effect) {
	if x.status != history.Running {
		switch e.Kind {
		case InvokeTask, SetTimer, StartMapRun, Yield:
			return
		default:
		}
	}
	x.out.Effects = append(x.out.Effects, e)
}

func (x *Execution) succeed(t *thread) {
	x.emit(history.Event{Type: history.ExecutionSucceeded, Previous: t.last, Data: t.input.Text()})
	x.output = t.input
	x.finish(history.Succeeded)
}

func (x *Execution) fail(previous int64, f history.Failure) {
	x.emit(history.Event{Type: history.ExecutionFailed, Previous: previous, More: &history.Details{Failure: f}})
	x.failure = f
	x.finish(history.Failed)
}

func (x *Execution) stop(f history.Failure) {
	x.emit(history.Event{Type: history.ExecutionAborted, More: &history.Details{Failure: f}})
	x.failure = f
	x.finish(history.Aborted)
}

func (x *Execution) timeOut() {
	x.emit(history.Event{Type: history.ExecutionTimedOut, Previous: x.lastID,
		More: &history.Details{Failure: history.Named(plan.ErrTimeout)}})
	x.failure = history.Named(plan.ErrTimeout)
	x.finish(history.TimedOut)
}

// finish ends the execution. It cancels everything in progress, in the order in which it was started.
func (x *Execution) finish(s history.Status) {
	x.status, x.stopped, x.interrupted = s, x.now, false
	for _, id := range x.open() {
		x.cancel(id, x.waits[id])
	}
	x.ready = nil
	x.effect(Effect{Kind: Finish})
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
