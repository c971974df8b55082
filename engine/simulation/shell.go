package simulation

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/simulation/machine"
	"stepback/jsonvalue"
)

// forever is when an execution that still runs is stopped, in virtual time: a task that hangs may have no limit.
const forever = 3 * year

// stuck is the real time after which a simulation that makes no progress is a failure: in which nothing was committed
// and no task was asked for. How long a simulation takes as a whole says nothing, as machines may loop and be busy.
const stuck = 30 * time.Second

// shell is one simulation of the whole engine: workers, the virtual clock, Map Runs with child executions, recovery
// after a crash. The order in which its goroutines run is not drawn; what tasks do depends only on what they are asked,
// so that most failures come again.
type shell struct {
	*draws
	model *machine.Machine
	input string
	seed  int           // of what tasks do
	stop  time.Duration // when the execution is stopped, from the beginning
	again int64         // how often the execution is redriven, at most
	kept  *journal.Memory
	now   time.Time // when the next process begins

	// Of the process that lives.
	clock  *clock.Clock
	engine *engine.Engine
	arn    string // of the simulated execution
	asked  atomic.Int64
}

// simulateShell runs one simulation and returns what is wrong.
func simulateShell(d *draws) error {
	s := &shell{draws: d, kept: journal.NewMemory(), now: machine.Epoch, stop: forever}
	s.model = machine.Random(d, machine.Limits{
		States: 4, Depth: 3, Kinds: []machine.Kind{machine.Integration, machine.Function},
	})
	s.input, s.seed = d.payload(), d.Intn(1<<30)
	if s.one(6) {
		s.stop = s.seconds(30)
	}
	if s.one(2) {
		s.again = int64(1 + s.Intn(3))
	}
	for range s.Intn(4) {
		if over, err := s.life(1 + s.Intn(40)); over || err != nil {
			return err
		}
	}
	_, err := s.life(immortal)
	return err
}

// life is one process: it recovers what the one before has left, and goes on until the execution has ended, which is
// then judged, or the process dies after a number of commits.
func (s *shell) life(commits int) (over bool, err error) {
	s.clock = clock.Virtual(s.now)
	defer s.clock.Close()
	j := newMortal(s.kept, commits)
	s.engine, err = engine.New(engine.Config{
		Clock: s.clock, Journal: j, Seed: uint64(s.seed) + 1, Workers: 2, Patience: -1,
		Integrations: map[string]engine.Integration{"sqs:sendMessage": s, "function": s},
	})
	if err != nil {
		return false, err
	}
	defer s.engine.Close()
	j.tooMany = func() {
		_ = s.engine.StopExecution(context.Background(), s.arn, history.NewFailure("Stopped",
			"it loops")) // unless it has ended
	}
	ctx, cancel := s.whileItMoves(j)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx) }()
	select {
	case <-j.died:
		s.now = s.clock.Now() // time stands still: what was not committed holds it
		cancel()
		<-ended //nolint:errcheck // whatever it says, the process is dead
		return false, nil
	case err := <-ended:
		if err == nil {
			err = s.judgeAll(ctx)
		}
		return true, s.failure(err)
	}
}

// errStuck says that nothing has happened for a while.
var errStuck = errors.New("nothing was committed and no task was asked for in " + stuck.String())

// whileItMoves returns a context that ends when a process makes no progress any more.
func (s *shell) whileItMoves(j *mortal) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(stuck)
		defer tick.Stop()
		for before := int64(-1); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now := j.commits() + s.asked.Load()
			if now == before {
				end(errStuck)
				return
			}
			before = now
		}
	})
	return ctx, func() { end(context.Canceled); watching.Wait() }
}

// run recovers and has the execution carried out, and redriven.
func (s *shell) run(ctx context.Context) error {
	e := s.engine
	s.clock.Hold() // or time would jump to the stop before there is anything to stop
	arn, err := s.begin(ctx)
	s.clock.Release()
	if err != nil {
		return err
	}
	for {
		x, err := e.Wait(ctx, arn)
		if err != nil {
			return fmt.Errorf("the execution does not end: %w", errors.Join(err, context.Cause(ctx)))
		}
		if x.RedriveCount >= s.again {
			return nil
		}
		if err := s.redrive(ctx); err != nil {
			return fmt.Errorf("the execution cannot be redriven: %w", err)
		}
	}
}

// redrive redrives the execution if it can be: it may have succeeded, or time has jumped too far meanwhile.
func (s *shell) redrive(ctx context.Context) error {
	s.clock.Hold()
	defer s.clock.Release()
	s.stopAt(ctx, s.clock.Now().Add(forever))
	_, err := s.engine.RedriveExecution(ctx, s.arn, "")
	if refusal := (*engine.NotRedrivableError)(nil); errors.As(err, &refusal) {
		s.again = 0
		return nil
	}
	return err
}

// stopAt has the execution stopped at a time, if it has not ended long before.
func (s *shell) stopAt(ctx context.Context, at time.Time) {
	e := s.engine
	s.clock.Schedule(at, clock.AlarmFunc(func() {
		_ = e.StopExecution(ctx, s.arn, history.NewFailure("Stopped", "because"))
	}))
}

func (s *shell) begin(ctx context.Context) (string, error) {
	e := s.engine
	m, err := e.CreateStateMachine("m", s.model.Definition(), "", false)
	if err != nil {
		return "", err
	}
	s.arn = m.ExecutionARN("e")
	found, err := e.Recover(ctx)
	if err != nil {
		return "", err
	}
	if len(found.Left) > 0 {
		return "", fmt.Errorf("%s is not recovered: %w", found.Left[0].ARN, found.Left[0].Err)
	}
	s.stopAt(ctx, machine.Epoch.Add(s.stop))
	if _, err := e.StartExecution(ctx, m.ARN, "e", s.input); err != nil && !errors.Is(err, engine.ErrAlreadyExists) {
		return "", err
	}
	return s.arn, nil
}

// Invoke implements engine.Integration: what a task does follows from what it is asked.
func (s *shell) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	s.asked.Add(1)
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
		return nil, &f
	}
	return jsonvalue.TextDocument(d.payload()), nil
}
