package simulation

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/journal"
	"stepback/engine/simulation/machine"
	"stepback/engine/simulation/oracle"
)

// forever is when an execution that still runs is stopped, in virtual time: a task that hangs may have no limit.
const forever = 3 * year

// stuck is the real time after which a simulation that makes no progress is a failure.
const stuck = 30 * time.Second

// shell is one simulation of the whole engine: workers, the virtual clock, Map Runs with child executions. The order in which
// its goroutines run is not drawn; what tasks do depends only on what they are asked, so that most failures come again.
type shell struct {
	*draws
	model *machine.Machine
	input string
	seed  int // of what tasks do
	clock *clock.Clock

	engine *engine.Engine
	arn    string // of the simulated execution

	mu    sync.Mutex
	ended []execution
	// events counts those of all executions that have ended; enough says that the simulation was stopped for them.
	events int
	enough bool
}

// execution is one that has ended, the simulated one or a child.
type execution struct {
	journal.Execution
	history []history.Event
}

// simulateShell runs one simulation and returns what is wrong.
func simulateShell(d *draws) error {
	s := &shell{draws: d, clock: clock.Virtual(machine.Epoch)}
	defer s.clock.Close()
	s.model = machine.Random(d, machine.Limits{
		States: 4, Depth: 3, Kinds: []machine.Kind{machine.Integration, machine.Function},
	})
	s.input, s.seed = d.payload(), d.Intn(1<<30)
	var err error
	s.engine, err = engine.New(engine.Config{
		Clock: s.clock, Journal: journal.NewMemory(), Seed: uint64(s.seed) + 1, Workers: 2, Observe: s.observe,
		Integrations: map[string]engine.Integration{"test:call": s, "function": s},
	})
	if err != nil {
		return err
	}
	defer s.engine.Close()
	if err := s.run(); err != nil {
		f := &Failure{Err: err, Definition: s.model.Definition(), Input: s.input}
		s.mu.Lock()
		defer s.mu.Unlock()
		var at *wrong
		for i := range s.ended {
			if errors.As(err, &at) && s.ended[i].ARN == at.arn {
				f.History = s.ended[i].history
			}
		}
		return f
	}
	return nil
}

// wrong is what is wrong with one execution.
type wrong struct {
	arn string
	err error
}

func (w *wrong) Error() string { return w.arn + ": " + w.err.Error() }
func (w *wrong) Unwrap() error { return w.err }

// run has one execution carried out and judges it, its children and its Map Runs.
func (s *shell) run() error {
	e := s.engine
	ctx, cancel := context.WithTimeout(context.Background(), stuck)
	defer cancel()
	m, err := e.CreateStateMachine("m", s.model.Definition(), "", false)
	if err != nil {
		return err
	}
	stop := forever
	stopped := s.one(6)
	if stopped {
		stop = s.seconds(30)
	}
	s.arn = m.ExecutionARN("e")
	s.clock.Hold() // or time would jump to the stop before there is anything to stop
	s.clock.Schedule(machine.Epoch.Add(stop), clock.AlarmFunc(func() {
		_ = e.StopExecution(ctx, s.arn, history.NewFailure("Stopped", "because")) // it may have ended long before
	}))
	_, err = e.StartExecution(ctx, m.ARN, "e", s.input)
	s.clock.Release()
	if err != nil {
		return err
	}
	if _, err := e.Wait(ctx, s.arn); err != nil {
		return fmt.Errorf("the execution does not end: %w", err)
	}
	return s.judgeAll(ctx)
}

// judgeAll judges everything that has ended: executions, and Map Runs against their children.
func (s *shell) judgeAll(ctx context.Context) error {
	var runs []*engine.MapRun
	ended := s.soFar()
	for i := range ended {
		if err := s.judge(&ended[i]); err != nil {
			return &wrong{ended[i].ARN, err}
		}
		if slices.ContainsFunc(ended[i].history, func(e history.Event) bool { return e.Type == history.MapRunStarted }) {
			found, err := s.engine.MapRunsOf(ctx, ended[i].ARN)
			if err != nil {
				return err
			}
			runs = append(runs, found...)
		}
	}
	ended = s.soFar() // again: of a Map Run that is over by now, all children are
	for _, r := range runs {
		if err := s.judgeMapRun(r, ended); err != nil {
			return &wrong{r.Execution, fmt.Errorf("the Map Run %s: %w", r.ARN, err)}
		}
	}
	return nil
}

// soFar are the executions that have ended.
func (s *shell) soFar() []execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ended)
}

func (s *shell) observe(x *journal.Execution, events []history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, execution{*x, slices.Clone(events)})
	if s.events += len(events); s.events > longest && !s.enough {
		s.enough = true
		_ = s.engine.StopExecution(context.Background(), s.arn, history.NewFailure("Stopped", "it loops")) // unless it has ended
	}
}

// judge has one history judged by the scope that the execution ran.
func (s *shell) judge(x *execution) error {
	subject := &oracle.Subject{
		Root: s.model.Root, TimeoutSeconds: s.model.TimeoutSeconds, Input: x.Input, History: x.history, Status: string(x.Status), Stopped: true,
	}
	if m := s.mapState(x); m != nil {
		subject.Root, subject.TimeoutSeconds = m.Processor, 0
	}
	return oracle.Check(subject)
}

// mapState is the Map state whose child an execution is; nil when it is none.
func (s *shell) mapState(x *execution) *machine.State {
	_, label, child := strings.Cut(x.MachineARN, "/")
	if !child {
		return nil
	}
	var found *machine.State
	s.model.Root.Walk(func(st *machine.State) {
		if st.Name == label[strings.LastIndexByte(label, '/')+1:] {
			found = st
		}
	})
	return found
}

// Invoke implements engine.Integration: what a task does follows from what it is asked.
func (s *shell) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	asked := fnv.New64a()
	fmt.Fprintf(asked, "%d %s %d %s", s.seed, t.State, t.Attempt, t.Parameters)
	d := fromSeed(asked.Sum64())
	outcome := d.Intn(6)
	if outcome == 5 {
		return nil, s.clock.Park(ctx)
	}
	if err := s.clock.Sleep(ctx, d.seconds(10)); err != nil {
		return nil, err
	}
	if outcome >= 3 {
		f := d.failure()
		return nil, &engine.TaskError{Name: f.Error, Cause: f.Cause, NoCause: !f.HasCause}
	}
	return interpreter.TextPayload(d.payload()), nil
}
