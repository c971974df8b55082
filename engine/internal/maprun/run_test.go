package maprun_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/maprun"
	"stepback/engine/internal/plan"
	"stepback/engine/journal"
	"stepback/jsonvalue"
)

const machineARN = "arn:aws:states:us-east-1:000000000000:stateMachine:m/Each"

// host runs children on its own: a child fails if any of its items fails, each at a different time.
type host struct {
	fails map[int64]bool
	stuck bool // children end only when they are stopped
	// starts receives a function for each child that stores its start; nil if starts are stored at once.
	starts chan func()

	mu         sync.Mutex
	registered []history.Info
	open, most int
	running    sync.WaitGroup
}

func (h *host) Now() time.Time { return time.Unix(0, 0) }

func (h *host) Reopen(context.Context, *journal.Execution, func(*journal.Execution)) (maprun.Child, error) {
	return nil, fmt.Errorf("nothing is redriven here")
}

func (h *host) Register(info history.Info, began func(), ended func(*journal.Execution)) (maprun.Child, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.starts == nil {
		began()
	} else {
		h.starts <- began
	}
	h.registered = append(h.registered, info)
	h.open++
	h.most = max(h.most, h.open)
	c := &child{host: h, info: info, ended: ended}
	if !h.stuck {
		h.running.Go(c.run)
	}
	return c, nil
}

type child struct {
	host  *host
	info  history.Info
	ended func(*journal.Execution)
	once  sync.Once
}

func (c *child) Info() *history.Info             { return &c.info }
func (c *child) Follow(func(*journal.Execution)) {}
func (c *child) GoOn()                           {}
func (c *child) Err() error                      { return nil }

func (c *child) Stop() { c.host.running.Go(func() { c.end(history.Aborted, "") }) }

func (c *child) run() {
	for i := c.info.FirstItem; i < c.info.FirstItem+c.info.Items; i++ {
		if c.host.fails[i] {
			c.end(history.Failed, "Rotten")
			return
		}
	}
	c.end(history.Succeeded, "")
}

func (c *child) end(status history.Status, name string) {
	c.once.Do(func() {
		c.host.mu.Lock()
		c.host.open--
		c.host.mu.Unlock()
		x := &journal.Execution{Info: c.info, Status: status}
		if name != "" {
			x.Failure = history.NewFailure(name, "")
		}
		if status == history.Succeeded {
			x.Output = fmt.Sprint(c.info.FirstItem)
		}
		c.ended(x)
	})
}

// limits are the limits of a Map Run, and its number of items.
type limits struct {
	items, atOnce, batch int64
	count                int64   // tolerated; -1 means not set
	percentage           float64 // tolerated; -1 means not set
}

func newRun(ctx, closing context.Context, h *host, l limits) *maprun.Run {
	state := &plan.State{Map: &plan.Map{Distributed: true}}
	call := &interpreter.MapRunCall{ARN: "arn:aws:states:us-east-1:000000000000:mapRun:m/Each:1", State: state, Label: "Each",
		MaxConcurrency: l.atOnce, MaxItemsPerBatch: l.batch}
	if l.batch > 0 {
		state.Map.Batcher = &plan.Batcher{}
	}
	if l.count >= 0 {
		state.Map.ToleratedFailureCount.Present, call.ToleratedFailureCount = true, l.count
	}
	if l.percentage >= 0 {
		state.Map.ToleratedFailurePercentage.Present, call.ToleratedFailurePercentage = true, l.percentage
	}
	for i := range l.items {
		call.Items = append(call.Items, jsonvalue.OfInt(i))
	}
	return maprun.New(ctx, maprun.Config{ID: 1, Call: call, Parent: &history.Info{ARN: "arn:aws:states:us-east-1:000000000000:execution:m:1"},
		Machine: maprun.Machine{ARN: machineARN}, Host: h, Clock: clock.Real(), Journal: journal.NewMemory(),
		Log: slog.New(slog.DiscardHandler), Closing: closing, Forget: func() {}})
}

// TestRunStartsInGroups checks that at most 1,000 children wait for their first step, however many may run at a time.
func TestRunStartsInGroups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const items = 3300
		h := &host{stuck: true, starts: make(chan func(), items)}
		ctx, cancel := context.WithCancel(t.Context())
		m := newRun(ctx, t.Context(), h, limits{items: items, atOnce: 10_000, count: -1, percentage: -1})
		var done sync.WaitGroup
		done.Go(func() { _, _ = m.CarryOut(ctx) })
		var waiting []int
		for range 8 {
			synctest.Wait()
			waiting = append(waiting, len(h.starts))
			for range min(500, len(h.starts)) {
				(<-h.starts)()
			}
		}
		if want := []int{1000, 1000, 1000, 1000, 1000, 800, 300, 0}; !slices.Equal(waiting, want) {
			t.Errorf("%v children wait for their first step, not %v", waiting, want)
		}
		if h.most != items {
			t.Errorf("%d children ran at a time, not %d", h.most, items)
		}
		cancel()
		done.Wait()
		h.running.Wait()
		m.Clock.Close()
	})
}

// TestRunKeepsItsLimits checks, for random numbers of items, failures and limits: every item has at most one child,
// in order; no more children run concurrently than allowed; the Map Run fails if and only if more items failed than
// are tolerated, and then stops; its results are in the order of its items; and its counters account for every item.
func TestRunKeepsItsLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := limits{
			items: rapid.Int64Range(0, 60).Draw(t, "items"), atOnce: rapid.Int64Range(1, 9).Draw(t, "at once"),
			batch: rapid.SampledFrom([]int64{0, 1, 3, 7}).Draw(t, "batch"),
			count: rapid.Int64Range(-1, 8).Draw(t, "tolerated"), percentage: -1,
		}
		if rapid.Bool().Draw(t, "percentage given") {
			l.percentage = float64(rapid.IntRange(0, 100).Draw(t, "percentage"))
		}
		h := &host{fails: map[int64]bool{}}
		for i := range l.items {
			if rapid.IntRange(0, 9).Draw(t, "luck") == 0 {
				h.fails[i] = true
			}
		}
		m := newRun(context.Background(), context.Background(), h, l)
		outcome, err := m.CarryOut(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		h.running.Wait()
		<-m.Gone()

		size := max(1, l.batch)
		next, failed := int64(0), int64(0)
		var results []string
		for _, info := range h.registered {
			if info.FirstItem != next || info.Items != min(size, l.items-next) {
				t.Fatalf("a child has %d items from %d on, want %d from %d on", info.Items, info.FirstItem, min(size, l.items-next), next)
			}
			next += info.Items
			results = append(results, fmt.Sprint(info.FirstItem))
		}
		for first := int64(0); first < l.items; first += size {
			for i := first; i < min(first+size, l.items); i++ {
				if h.fails[i] {
					failed += min(size, l.items-first)
					break
				}
			}
		}
		if int64(h.most) > l.atOnce {
			t.Errorf("%d children at once, want %d at most", h.most, l.atOnce)
		}
		over := failed > 0 && (l.count >= 0 || l.percentage < 0) && failed > max(0, l.count) ||
			l.percentage >= 0 && float64(failed)*100 > l.percentage*float64(l.items)
		items, _, _ := m.Counts()
		switch {
		case over:
			if outcome.Kind != interpreter.MapRunFailed || outcome.Failure.Name != plan.ErrExceedToleratedFailure {
				t.Errorf("%d of %d items failed, more than tolerated: %v %v", failed, l.items, outcome.Kind, outcome.Failure)
			}
		case outcome.Kind != interpreter.MapRunSucceeded:
			t.Errorf("%d of %d items failed, which is tolerated: %v", failed, l.items, outcome.Failure)
		case items.Failed != failed || items.Succeeded != l.items-failed:
			t.Errorf("%+v of %d items, of which %d failed", items, l.items, failed)
		default:
			var output []any
			if err := json.Unmarshal([]byte(outcome.Output.Text()), &output); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range output {
				got = append(got, fmt.Sprint(one))
			}
			if failed == 0 && strings.Join(got, " ") != strings.Join(results, " ") {
				t.Errorf("the results are %v, want %v", got, results)
			}
		}
		if items.Total() != l.items || items.Running != 0 {
			t.Errorf("%d items come to %+v", l.items, items)
		}
	})
}

// TestRunStopsItsChildren: if the Map Run is cancelled, all children are stopped and no others are started.
func TestRunStopsItsChildren(t *testing.T) {
	t.Parallel()
	h := &host{stuck: true}
	ctx, cancel := context.WithCancel(t.Context())
	m := newRun(t.Context(), t.Context(), h, limits{items: 10, atOnce: 4, count: -1, percentage: -1})
	cancel()
	outcome, err := m.CarryOut(ctx)
	if err != nil || outcome.Kind != interpreter.MapRunFailed || outcome.Failure.Name != "States.Aborted" {
		t.Errorf("%+v, %v", outcome, err)
	}
	h.running.Wait()
	if items, _, _ := m.Counts(); items.Aborted+items.Pending != 10 || m.Describe().Status != history.Aborted {
		t.Errorf("%+v, %s", items, m.Describe().Status)
	}
}

// TestRunEndsWithTheEngine: if the engine closes, the Map Run gives up with the engine's reason, and leaves the
// children to the next process.
func TestRunEndsWithTheEngine(t *testing.T) {
	t.Parallel()
	h := &host{stuck: true}
	closing, end := context.WithCancelCause(t.Context())
	m := newRun(t.Context(), closing, h, limits{items: 5, atOnce: 2, count: -1, percentage: -1})
	reason := fmt.Errorf("the disk is full")
	end(reason)
	if _, err := m.CarryOut(t.Context()); err != reason { //nolint:errorlint // it is this one
		t.Errorf("%v", err)
	}
	<-m.Gone()
	if len(h.registered) != 2 {
		t.Errorf("%d children were started, want 2", len(h.registered))
	}
}
