package simulation

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/engine/simulation/machine"
	"stepback/internal/pebblestore"
	"stepback/jsonvalue"
)

// forever is the virtual time after which a running execution is stopped: a task that hangs may have no limit.
const forever = 3 * year

// shell is one simulation of the whole engine: its worker, the virtual clock, Map Runs with child executions, the
// journal on a disk that fails, and recovery after crashes. The world decides the order in which things happen.
type shell struct {
	*draws
	world  *world
	model  *machine.Machine
	input  string
	seed   int           // seed of the tasks' behaviour
	stop   time.Duration // when the execution is stopped, from the start
	again  int64         // maximum number of redrives
	disk   *vfs.MemFS    // the disk as the next process finds it
	copied *vfs.MemFS    // the disk before it was damaged; nil if it was not
	harm   string        // description of the damage
	now    time.Time     // when the next process starts
	acks   *acknowledged
	safe   int  // number of acks that recovery must find or report as lost
	tidy   bool // the disk does not tear unsynced data and is not damaged
	back   bool // the clock has been set back: later events may seem earlier
	loose  bool // time has jumped ahead or steps were lost: no timer is punctual any more

	// State of the living process.
	process
}

// process holds everything that ends with a crash.
type process struct {
	clock   *clock.Clock
	engine  *engine.Engine
	journal *pebble.Journal
	j       *committing
	files   *disk
	arn     string         // ARN of the simulated execution
	anchors map[string]int // number of steps acknowledged when the journal's anchor had this text
	began   int            // number acknowledged before
	tracked *tracking
}

// simulateShell runs one simulation and returns the fault found, or nil.
func simulateShell(t *testing.T, d *draws) error {
	_, err := traced(t, d, false)
	return err
}

// traced runs one simulation in a separate bubble, on a disk that may be tidy, and also returns a trace of what
// happened.
func traced(t *testing.T, d *draws, tidy bool) (trace []string, err error) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w := newWorld(d)
		s := newShell(w)
		s.tidy = tidy
		err = s.simulate()
		trace = w.trace
		w.pass(idle) // a store that could not be opened is closed once Pebble has given up, in virtual time
	})
	return trace, err
}

func newShell(w *world) *shell {
	s := &shell{draws: w.draws, world: w, disk: vfs.NewCrashableMem(), now: machine.Epoch, stop: forever,
		acks: &acknowledged{}}
	s.model = machine.Random(w.draws, machine.Limits{
		States: 4, Depth: 3, Kinds: []machine.Kind{machine.Integration, machine.Function},
	})
	s.input, s.seed = s.payload(), s.Intn(1<<30)
	if s.one(6) {
		s.stop = s.seconds(30)
	}
	if s.one(2) {
		s.again = int64(1 + s.Intn(3))
	}
	return s
}

// immortal is a number of turns that no simulation reaches.
const immortal = 1 << 30

// simulate runs one process after another until one has brought the execution to its end.
func (s *shell) simulate() error {
	for range s.Intn(4) {
		if over, err := s.life(1 + s.Intn(pick(s.draws, 60, 20, 6))); over || err != nil {
			return s.failure(err)
		}
	}
	_, err := s.life(immortal)
	return s.failure(err)
}

// outcome describes how a process ended by itself.
type outcome struct {
	told bool // it reported that something is lost or damaged
	err  error
}

// life runs one process: it opens the disk that the previous one left, recovers, and continues until the execution
// has ended, which is then judged, or until it dies after a number of turns.
func (s *shell) life(turns int) (over bool, err error) {
	s.process = process{clock: clock.Virtual(s.now), files: newDisk(s.world, s.disk), anchors: map[string]int{},
		began: s.safe, tracked: &tracking{}}
	s.world.rise(s.clock)
	s.files.slow = s.one(3)
	lie := -1
	if turns != immortal && s.one(6) {
		lie = s.Intn(turns)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan outcome, 1)
	go func() { ended <- s.live(ctx) }()
	for turn := 0; ; turn++ {
		went := s.world.next()
		select {
		case o := <-ended:
			return s.bury(cancel, o)
		default:
		}
		switch {
		case !went && !s.waitsFor(ended):
			cancel()
			s.world.die()
			<-ended
			_, _ = s.bury(func() {}, outcome{})
			return true, errors.New("nothing can happen any more, and the execution has not ended")
		case turn == lie:
			s.world.note("from here on the disk lies")
			s.files.lies.Store(true)
		case turn >= turns:
			return false, s.crash(cancel, ended)
		case turn%16 == 15 && s.one(4):
			s.world.pass(2 * time.Second)
			s.anchored()
		}
	}
}

// waitsFor lets time pass for timers outside the engine, and reports whether that had an effect.
func (s *shell) waitsFor(ended chan outcome) bool {
	for range 3 {
		s.world.pass(idle)
		if !s.world.quiet() || len(ended) > 0 {
			return true
		}
	}
	return false
}

// anchored records how many steps the anchor beside the log covers: all that are acknowledged. They may be lost
// silently only if the disk lies or is damaged, and does not have this anchor either.
func (s *shell) anchored() {
	if text, ok := anchorOf(s.disk); ok {
		s.anchors[text] = s.acks.count()
	}
}

// bury handles a process that has ended without a crash.
func (s *shell) bury(cancel func(), o outcome) (over bool, err error) {
	cancel()
	s.world.die()
	if s.engine != nil {
		s.engine.Close()
	}
	s.clock.Close()
	if s.journal != nil {
		_ = s.journal.Close() // the disk is not used any more
	}
	switch harmed := s.copied != nil; {
	case o.told && harmed: // the copy is restored, and the next process continues
		s.world.note("told of the damage")
		s.disk, s.copied = s.copied, nil
		return false, nil
	case o.told: // what the disk has lost is gone
		s.world.note("told")
		return true, nil
	case o.err != nil && harmed:
		return true, fmt.Errorf("after a %s: %w", s.harm, o.err)
	default:
		return true, o.err
	}
}

// crash kills a process and leaves the disk as a crash does: the disk may have lied, and may be damaged.
func (s *shell) crash(cancel func(), ended <-chan outcome) error {
	lied := s.files.lies.Load()
	s.anchored()
	left, err := s.files.crash(s.tidy)
	if err != nil {
		return err
	}
	s.now, s.safe = s.clock.Now(), s.acks.count()
	s.world.note("crash at %s", s.now.Format(time.RFC3339Nano))
	s.world.die()
	cancel()
	<-ended // whatever the outcome says, the process is dead
	_, _ = s.bury(func() {}, outcome{})
	s.acks.forget(s.safe) // acknowledgements to a dead process do not count
	s.disk, s.copied = left, nil
	anchor, _ := anchorOf(left)
	if !s.tidy && s.one(3) {
		s.copied = clone(left)
		if s.harm, err = damage(s.draws, left); err != nil {
			return err
		}
		s.world.note("damage")
		if s.harm == "" {
			s.copied = nil
		}
	}
	switch at, known := s.anchors[anchor]; {
	case s.copied != nil && !known: // an older anchor, or none
		s.safe = 0
	case s.copied != nil:
		s.safe = at
	case lied:
		s.safe = max(at, s.began)
	}
	switch s.Intn(8) {
	case 6:
		s.now, s.back = s.now.Add(-s.seconds(7200)), true
		s.world.note("the clock is set back to %s", s.now.Format(time.RFC3339Nano))
	case 7:
		s.now, s.loose = s.now.Add(s.seconds(7200)), true
		s.world.note("the clock is set forward to %s", s.now.Format(time.RFC3339Nano))
	}
	return nil
}

// live is the body of a process: it opens the journal, recovers, runs and redrives the execution, and judges it.
func (s *shell) live(ctx context.Context) outcome {
	var err error
	s.journal, err = pebble.Open(journalDir, pebble.Config{FS: s.files, Retention: -1})
	if err != nil {
		var lost *pebblestore.LostTail
		return outcome{s.copied != nil || errors.As(err, &lost), err}
	}
	s.files.opened()
	if lost := s.journal.LostTails(); len(lost) > 0 {
		return outcome{true, lost[0]}
	}
	if err := s.acks.lost(ctx, s.journal, s.safe); err != nil {
		return outcome{s.refusal(err), err}
	}
	if s.acks.count() > s.safe && s.acks.lost(ctx, s.journal, s.acks.count()) != nil {
		s.loose = true // the steps of that time are repeated
	}
	s.acks.forget(s.safe)
	s.began = s.acks.count()
	s.j = &committing{Journal: s.journal, world: s.world, acks: s.acks}
	s.engine, err = engine.New(engine.Config{
		Clock: s.clock, Journal: s.j, Seed: uint64(s.seed) + 1, Workers: 1, Patience: -1, Track: s.tracked.track,
		Integrations: new(engine.Integrations).
			Handle("sqs", "sendMessage", s).
			HandleFunctions(s),
	})
	if err != nil {
		return outcome{err: err}
	}
	s.j.tooMany = func() {
		_ = s.engine.StopExecution(ctx, s.arn, history.NewFailure("Stopped", "it loops")) // unless it has ended
	}
	if err = s.run(ctx); err == nil {
		err = s.judgeAll(ctx)
	}
	return outcome{s.refusal(err), err}
}

// errLeft is returned if recovery leaves an execution unresumed.
var errLeft = errors.New("not recovered")

// refusal reports whether an error means that data on a damaged disk cannot be read or is inconsistent.
func (s *shell) refusal(err error) bool {
	return s.copied != nil && (errors.Is(err, journal.ErrDamaged) || errors.Is(err, errLeft))
}

// run recovers, runs the execution and redrives it. It holds the clock whenever it does not wait, because between
// the end of the execution and its redrive time must not jump to the scheduled stop.
func (s *shell) run(ctx context.Context) error {
	e := s.engine
	s.clock.Hold()
	defer s.clock.Release()
	arn, err := s.begin(ctx)
	if err != nil {
		return err
	}
	for {
		if err := e.Await(ctx, arn); err != nil {
			return fmt.Errorf("the execution does not end: %w", errors.Join(err, context.Cause(ctx)))
		}
		x, err := e.DescribeExecution(ctx, arn)
		if err != nil {
			return err
		}
		if x.RedriveCount >= s.again {
			return nil
		}
		if err := s.redrive(ctx); err != nil {
			return fmt.Errorf("the execution cannot be redriven: %w", err)
		}
	}
}

// redrive redrives the execution, unless it succeeded, or time has jumped beyond the period in which redrives are
// allowed.
func (s *shell) redrive(ctx context.Context) error {
	s.stopAt(ctx, s.clock.Now().Add(forever))
	_, err := s.engine.RedriveExecution(ctx, s.arn, "")
	if refusal := (*engine.NotRedrivableError)(nil); errors.As(err, &refusal) {
		s.again = 0
		return nil
	}
	return err
}

// stopAt schedules a stop of the execution at a given time, in case it has not ended long before.
func (s *shell) stopAt(ctx context.Context, at time.Time) {
	e := s.engine
	s.clock.Schedule(at, clock.AlarmFunc(func() {
		_ = e.StopExecution(ctx, s.arn, history.NewFailure("Stopped", "because"))
	}))
}

func (s *shell) begin(ctx context.Context) (string, error) {
	e := s.engine
	m, err := e.Define(engine.Definition{Name: "m", Text: s.model.Definition()})
	if err != nil {
		return "", err
	}
	s.arn = m.ExecutionARN("e")
	found, err := e.Recover(ctx)
	if err != nil {
		return "", err
	}
	if len(found.Left) > 0 {
		return "", fmt.Errorf("%s: %w: %w", found.Left[0].ARN, errLeft, found.Left[0].Err)
	}
	s.stopAt(ctx, machine.Epoch.Add(s.stop))
	if _, err := e.StartExecution(ctx, m.ARN, "e", s.input); err != nil && !errors.Is(err, engine.ErrAlreadyExists) {
		return "", err
	}
	return s.arn, nil
}

// Invoke implements engine.Integration: the outcome of a task depends only on its request. A cancelled task waits
// for its turn before it reports. Otherwise the Go scheduler would decide which of several cancelled tasks reports
// first.
func (s *shell) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	asked := fmt.Sprintf("%s %d %s", t.State, t.Attempt, t.Parameters)
	which := fmt.Sprintf(" of %s %d", t.Execution[strings.LastIndexByte(t.Execution, '/')+1:], t.ID)
	if !s.world.wait("task " + asked + which) {
		return nil, errDead
	}
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%d %s", s.seed, asked)
	d := fromSeed(hash.Sum64())
	outcome := d.Intn(6)
	var err error
	if outcome == 5 {
		err = s.clock.Park(ctx)
	} else {
		err = s.clock.Sleep(ctx, d.seconds(10))
	}
	switch {
	case err != nil:
		s.world.wait("cancelled " + asked + which)
		return nil, err
	case outcome >= 3:
		f := d.failure()
		return nil, &f
	}
	return jsonvalue.TextDocument(d.payload()), nil
}
