package interpreter

import (
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// MaxEvents is the longest history of a STANDARD execution.
const MaxEvents = 25_000

// transitionsPerStep bounds how many states one step enters before it yields, so that a long loop cannot starve others.
// As much work of expressions as workPerTransition counts as another state.
const (
	transitionsPerStep = 512
	workPerTransition  = 1000
)

// Machine is the state machine that an execution runs.
type Machine struct {
	Plan                  *plan.Plan
	Name, RoleARN, Region string
}

// Execution is one run of a state machine. It is not safe for concurrent use: the shell feeds it one event at a time.
type Execution struct {
	machine Machine
	info    *history.Info

	status  history.Status
	output  *jsonvalue.Document
	failure history.Failure
	lastID  int64
	start   time.Time
	secret  string // of the task tokens

	redrives int64
	redriven time.Time // the last time
	stopped  time.Time
	closed   time.Duration // between ends and redrives

	root   *thread
	ready  []*thread
	waits  map[int64]*wait
	nextID int64

	// Valid during a step.
	now    time.Time
	random aws.Random
	out    *Result
	work   int // that expressions have done, in their steps

	unusable   func(*TaskCall) string // see CheckTasks
	trial      *Trial                 // what a single state under test is run with; nil in executions
	input      *jsonvalue.Document
	aboutRun   jsonvalue.Value // context object: Execution
	aboutModel jsonvalue.Value // context object: StateMachine
}

// New returns an execution of m that waits for its Start signal. The caller leaves info as it is from now on.
func New(m Machine, info *history.Info) *Execution {
	return &Execution{
		machine: m, info: info, status: history.Running, waits: map[int64]*wait{},
		input: inputOf(info),
	}
}

// inputOf is an execution's input. A Map Run writes the inputs of its child executions itself, which are long and of
// which a state often reads little.
func inputOf(info *history.Info) *jsonvalue.Document {
	if info.MapRunARN != "" {
		return jsonvalue.CompactDocument(info.Input)
	}
	return jsonvalue.TextDocument(info.Input)
}

// CheckTasks sets what says why an integration cannot use the parameters of a task; empty means that it can. Such a
// task fails its state before it is scheduled. The same call has to get the same answer whenever it is replayed.
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

// Failure returns how a failed, timed out or stopped execution ended.
func (x *Execution) Failure() history.Failure { return x.failure }

// Step applies one event: it appends to the result what happened and what is to be done. Events that come too late (a
// task that was cancelled, anything after the end) change nothing.
func (x *Execution) Step(e *Signal, out *Result) {
	if (x.status == history.Running) == (e.Kind == Redrive) || x.status == history.Succeeded {
		return
	}
	x.now, x.random, x.out = e.At, aws.Random{Seed: e.Seed}, out
	x.apply(e)
	x.drain()
	if e.Kind == Start || e.Kind == Redrive {
		x.limitLife()
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

// begin writes ExecutionStarted and readies the first state.
func (x *Execution) begin() {
	x.start = x.now
	x.emit(history.Event{Type: history.ExecutionStarted, Data: x.info.Input, More: &history.Details{
		RoleARN: x.machine.RoleARN, VersionARN: x.info.VersionARN, AliasARN: x.info.AliasARN,
	}})
	x.limitTime()
	x.root = &thread{state: x.machine.Plan.Root.Start, input: x.input, vars: &variables{}}
	x.ready = append(x.ready, x.root)
}

// expressSeconds is how long an EXPRESS execution may take.
const expressSeconds = 300

// limitTime sets the time by which the execution has to end.
func (x *Execution) limitTime() {
	if limit := x.limitSeconds(); limit > 0 {
		x.timer(nil, machineTimeout, secondsOf(limit))
	}
}

// limitSeconds is how long the execution may take; 0 means no limit.
func (x *Execution) limitSeconds() int64 {
	limit := x.machine.Plan.TimeoutSeconds
	if x.info.Express && (limit == 0 || limit > expressSeconds) {
		return expressSeconds
	}
	return limit
}

// MaxDuration is how long a STANDARD execution may take: a year, as on AWS. One that takes longer ends as one does that
// overruns its own TimeoutSeconds.
const MaxDuration = 365 * 24 * time.Hour

// lifeLimit is the ID of the timer that ends an execution after MaxDuration. It is none of those that are counted up,
// so that what an execution without it has journaled still fits.
const lifeLimit = -1

// limitLife ends the execution after MaxDuration if nothing ends it before. An execution that has ended in its first
// step needs no timer.
func (x *Execution) limitLife() {
	limit := x.limitSeconds()
	if x.status != history.Running || limit > 0 && secondsOf(limit) <= MaxDuration {
		return
	}
	w := &wait{id: lifeLimit, kind: machineTimeout, at: x.start.Add(x.closed + MaxDuration)}
	x.waits[w.id] = w
	x.effect(Effect{Kind: SetTimer, ID: w.id, At: w.at, Background: true})
}

// drain runs every thread that can run until all wait or have ended.
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

// emit appends an event to the history and returns its ID. The last event a STANDARD history has room for is kept for
// its end.
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

// effect asks the shell for something. An execution that has ended starts nothing any more.
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

// finish ends the execution: whatever is still under way is cancelled, in the order in which it began.
func (x *Execution) finish(s history.Status) {
	x.status, x.stopped = s, x.now
	for _, id := range x.open() {
		x.cancel(id, x.waits[id])
	}
	x.ready = nil
	x.effect(Effect{Kind: Finish})
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
