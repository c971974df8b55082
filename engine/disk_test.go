package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
)

const diskDefinition = `{"StartAt":"T","States":{
	"T":{` + call + `,"Retry":[{"ErrorEquals":["Boom"],"IntervalSeconds":30,"MaxAttempts":2}],"Next":"W"},
	"W":{"Type":"Wait","Seconds":10,"Next":"M"},
	"M":{"Type":"Map","Label":"L","MaxConcurrency":3,"End":true,"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"C","States":{"C":{` + call +
	`,"Next":"P"},"P":{"Type":"Pass","End":true}}}}}}`

// flaky fails the first attempt of each task.
var flaky = invoke(func(_ context.Context, task *engine.Task) (string, error) {
	if task.State == "T" && task.Attempt == 0 {
		return "", engine.NewFailure("Boom", "c")
	}
	return task.Parameters, nil
})

// image is the disk as a crash left it, and the number of executions whose start had been acknowledged by then.
type image struct {
	disk         *vfs.MemFS
	acknowledged int
}

// crashes is a disk that stores an image of itself at every sync: what a crash at that instant would leave.
type crashes struct {
	disk   *vfs.MemFS
	random *rand.Rand

	mu     sync.Mutex
	acks   int
	images []image
}

func (c *crashes) acknowledge() {
	c.mu.Lock()
	c.acks++
	c.mu.Unlock()
}

// MaybeError implements errorfs.Injector; it injects nothing and only observes.
func (c *crashes) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
	default:
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	torn := vfs.CrashCloneCfg{UnsyncedDataPercent: c.random.IntN(101), RNG: rand.New(rand.NewPCG(c.random.Uint64(), 0))}
	c.images = append(c.images, image{c.disk.CrashClone(torn), c.acks})
	return nil
}

// String implements errorfs.Injector.
func (*crashes) String() string { return "crashes" }

func diskEngine(t *testing.T, fs vfs.FS) (*engine.Engine, *pebble.Journal, *engine.Recovered) {
	t.Helper()
	j, err := pebble.Open("journal", pebble.Config{FS: fs, Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Virtual(epoch)
	e, err := engine.New(engine.Config{Clock: c, Journal: j, Seed: 1, Workers: 2,
		Integrations: new(engine.Integrations).Handle("test", "call", flaky)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	found, err := e.Recover(t.Context())
	if err != nil || len(found.Left) > 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	return e, j, found
}

// TestACrashAtEverySyncLosesNothing runs executions on a disk that could crash at every sync, with unsynced data half
// written, and recovers from each of those crashes.
func TestACrashAtEverySyncLosesNothing(t *testing.T) {
	t.Parallel()
	const executions = 6
	d := &crashes{disk: vfs.NewCrashableMem(), random: rand.New(rand.NewPCG(1, 2))}
	e, j, _ := diskEngine(t, errorfs.Wrap(d.disk, d))
	m, err := e.Define(engine.Definition{Name: "m", Text: diskDefinition})
	if err != nil {
		t.Fatal(err)
	}
	arns := make([]string, executions)
	for i := range arns {
		if arns[i], err = e.StartExecution(t.Context(), m.ARN, fmt.Sprintf("e%d", i), `[1,2,3,4,5,6,7]`); err != nil {
			t.Fatal(err)
		}
		d.acknowledge()
	}
	for _, arn := range arns {
		if x, err := e.Wait(t.Context(), arn); err != nil || x.Output != `[1,2,3,4,5,6,7]` {
			t.Fatalf("%+v, %v", x, err)
		}
	}
	e.Close()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d syncs", len(d.images))
	for n, im := range d.images {
		e, j, _ := diskEngine(t, im.disk)
		for _, arn := range arns[:im.acknowledged] {
			if x, err := e.Wait(t.Context(), arn); err != nil || x.Output != `[1,2,3,4,5,6,7]` {
				t.Fatalf("crash at sync %d with %d acknowledged: %+v, %v", n, im.acknowledged, x, err)
			}
		}
		running, err := e.Running(t.Context(), m.ARN)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range running { // started, but not acknowledged
			if _, err := e.Wait(t.Context(), x); err != nil {
				t.Fatal(err)
			}
		}
		for x, err := range j.Executions(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			events, err := j.History(t.Context(), x.ARN)
			if err != nil {
				t.Fatalf("crash at sync %d: %s is %s: %v", n, x.ARN, x.Status, err)
			}
			wellFormed(t, x, events)
		}
		e.Close()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// refusals is a disk that refuses writes for a while.
type refusals struct {
	mu   sync.Mutex
	with error
}

func (r *refusals) set(err error) {
	r.mu.Lock()
	r.with = err
	r.mu.Unlock()
}

// MaybeError implements errorfs.Injector.
func (r *refusals) MaybeError(op errorfs.Op) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpCreate {
		return r.with
	}
	return nil
}

// String implements errorfs.Injector.
func (*refusals) String() string { return "refusals" }

// TestADiskThatRefusesWritesBreaksTheJournalAndLosesNothing fills the disk, or makes it read-only, while executions
// are running.
func TestADiskThatRefusesWritesBreaksTheJournalAndLosesNothing(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{syscall.ENOSPC, syscall.EROFS, syscall.EIO} {
		t.Run(refusal.Error(), func(t *testing.T) {
			t.Parallel()
			disk, r := vfs.NewCrashableMem(), &refusals{}
			e, j, _ := diskEngine(t, errorfs.Wrap(disk, r))
			m, err := e.Define(engine.Definition{Name: "m", Text: diskDefinition})
			if err != nil {
				t.Fatal(err)
			}
			arn, err := e.StartExecution(t.Context(), m.ARN, "first", `[1,2,3]`)
			if err != nil {
				t.Fatal(err)
			}
			want, err := e.Wait(t.Context(), arn)
			if err != nil {
				t.Fatal(err)
			}
			r.set(refusal)
			for _, name := range []string{"second", "third"} {
				_, err = e.StartExecution(t.Context(), m.ARN, name, `[1]`)
				if !errors.Is(err, journal.ErrBroken) || !errors.Is(err, refusal) {
					t.Errorf("StartExecution %s: %v", name, err)
				}
			}
			e.Close()
			if err := j.Close(); err == nil {
				t.Error("Close says nothing of what could not be written")
			}
			e, j, _ = diskEngine(t, disk.CrashClone(vfs.CrashCloneCfg{}))
			defer j.Close()
			defer e.Close()
			if x, err := e.DescribeExecution(t.Context(), arn); err != nil || x.Output != want.Output ||
				x.Status != history.Succeeded {
				t.Errorf("after the disk is well again: %+v, %v", x, err)
			}
			if _, err := e.DescribeExecution(t.Context(), m.ExecutionARN("second")); !errors.Is(err,
				engine.ErrNoExecution) {
				t.Errorf("the refused execution: %v", err)
			}
			if _, err := e.Define(engine.Definition{Name: "m", Text: diskDefinition}); err != nil {
				t.Fatal(err)
			}
			if _, err := e.StartExecution(t.Context(), m.ARN, "second", `[1]`); err != nil {
				t.Errorf("once more: %v", err)
			}
		})
	}
}
