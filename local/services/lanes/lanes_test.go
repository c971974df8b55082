package lanes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stepback/engine/clock"
	"stepback/local/services/lanes"
)

// TestADeadTargetDelaysNoOther has 3,000 deliveries wait for a target that never answers. A delivery to another target
// starts at once, and those that wait have no goroutines. The test is not parallel, so that it can count goroutines.
func TestADeadTargetDelaysNoOther(t *testing.T) {
	c := clock.Real()
	defer c.Close()
	arrived, hanging := make(chan string), make(chan struct{}, 3000)
	l := lanes.New(lanes.Options[string]{Clock: c, Run: func(ctx context.Context, job string) {
		if job != "dead" {
			arrived <- job
			return
		}
		hanging <- struct{}{}
		<-ctx.Done()
	}})
	defer l.Close()
	before := runtime.NumGoroutine()
	for range 3000 {
		l.Ready("dead", "dead")
	}
	for range 64 {
		<-hanging
	}
	for _, other := range []string{"a", "b", "a"} {
		l.Ready(other, other)
		if got := <-arrived; got != other {
			t.Errorf("got %s", got)
		}
	}
	if len(hanging) != 0 {
		t.Errorf("%d more than 64 deliveries run in one lane", len(hanging))
	}
	if n := runtime.NumGoroutine() - before; n > 100 {
		t.Errorf("%d goroutines for deliveries that wait", n)
	}
}

// TestManyDeadTargets has more dead targets than there are shared places. Each other target still has a place.
func TestManyDeadTargets(t *testing.T) {
	t.Parallel()
	c := clock.Real()
	defer c.Close()
	var mu sync.Mutex
	hanging := map[string]int{}
	started, arrived := make(chan struct{}, 1000), make(chan string)
	free := make(chan struct{})
	l := lanes.New(lanes.Options[string]{Clock: c, Places: 4, Shared: 6, Run: func(ctx context.Context, job string) {
		if !strings.HasPrefix(job, "dead") {
			arrived <- job
			return
		}
		mu.Lock()
		hanging[job]++
		mu.Unlock()
		started <- struct{}{}
		select {
		case <-free:
		case <-ctx.Done():
		}
	}})
	defer l.Close()
	for i := range 5 {
		for range 10 {
			l.Ready(fmt.Sprint("dead ", i), fmt.Sprint("dead ", i))
		}
	}
	for range 5 + 6 {
		<-started
	}
	mu.Lock()
	if want := map[string]int{"dead 0": 4, "dead 1": 4, "dead 2": 1, "dead 3": 1, "dead 4": 1}; fmt.Sprint(hanging) != fmt.Sprint(want) {
		t.Errorf("in flight: %v, want %v", hanging, want)
	}
	mu.Unlock()
	for i := range 10 {
		name := fmt.Sprint("live ", i)
		l.Ready(name, name)
		if got := <-arrived; got != name {
			t.Errorf("got %s", got)
		}
	}
	close(free) // all of them are delivered in the end
	for range 5*10 - 11 {
		<-started
	}
}

// TestLanesKeepTheirOrder starts the deliveries of each lane in the order in which they became ready, whatever others
// do, and makes each once.
func TestLanesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 1))
			c := clock.Real()
			defer c.Close()
			places := 1 + draw.IntN(3)
			var mu sync.Mutex
			got, running, most := map[byte][]int{}, map[byte]int{}, 0
			type job struct {
				lane byte
				n    int
				took time.Duration
			}
			all := 0
			l := lanes.New(lanes.Options[job]{Clock: c, Places: places, Shared: draw.IntN(4) + 1,
				Run: func(_ context.Context, j job) {
					mu.Lock()
					got[j.lane] = append(got[j.lane], j.n)
					running[j.lane]++
					most = max(most, running[j.lane])
					mu.Unlock()
					time.Sleep(j.took) //nolint:forbidigo // virtual time
					mu.Lock()
					running[j.lane]--
					mu.Unlock()
				}})
			sent := map[byte]int{}
			for range 200 {
				lane := byte('a' + draw.IntN(5))
				l.Ready(string(lane), job{lane, sent[lane], time.Duration(draw.IntN(100)) * time.Millisecond})
				sent[lane]++
				all++
				synctest.Wait()
				time.Sleep(time.Duration(draw.IntN(10)) * time.Millisecond) //nolint:forbidigo // virtual time
			}
			time.Sleep(time.Hour) //nolint:forbidigo // virtual time
			l.Close()
			for lane, numbers := range got {
				inOrder := slices.IsSorted(numbers)
				slices.Sort(numbers)
				if len(slices.Compact(numbers)) != sent[lane] || places == 1 && !inOrder {
					t.Fatalf("seed %d, lane %c: %v", seed, lane, numbers)
				}
				all -= len(numbers)
			}
			if all != 0 || most > places {
				t.Fatalf("seed %d: %d are missing, %d at once of %d", seed, all, most, places)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	c := clock.Real()
	defer c.Close()
	l := lanes.New(lanes.Options[int]{Clock: c, Run: func(context.Context, int) {},
		PerLane: lanes.Bound{Jobs: 2, Bytes: 100}, Total: lanes.Bound{Jobs: 3, Bytes: 1000}})
	defer l.Close()
	reserve := func(lane string, bytes int64, want string) {
		t.Helper()
		err := l.Reserve(lane, bytes)
		var full *lanes.FullError
		if want == "" && err != nil || want != "" && (!errors.As(err, &full) || err.Error() != want) {
			t.Errorf("%s: %v, want %q", lane, err, want)
		}
	}
	const ofA = "the deliveries for a have reached the limit of 2, or of 100 bytes"
	reserve("a", 101, ofA)
	reserve("a", 60, "")
	reserve("a", 60, ofA)
	reserve("a", 40, "")
	reserve("a", 0, ofA)
	reserve("b", 100, "")
	reserve("c", 1, "the deliveries for all targets together have reached the limit of 3, or of 1000 bytes")
	l.Restore("a", 500) // accepted before
	if n := l.Reserved(); n != 4 {
		t.Errorf("%d reserved", n)
	}
	l.Forget("a", 500)
	l.Forget("a", 40)
	reserve("a", 40, "")
	l.Forget("a", 40)
	l.Resize("a", 60, 90) // stored again
	reserve("a", 11, ofA)
	reserve("a", 10, "")
	reserve("a", 0, ofA)
	if n := l.Reserved(); n != 3 {
		t.Errorf("%d reserved", n)
	}
	l.Forget("a", 10)
	l.Forget("a", 90)
	reserve("a", 100, "") // nothing is left over
}

// TestVirtualTimeWaitsForDeliveries lets no time pass while a delivery is ready and runs, and makes delayed ones in
// order.
func TestVirtualTimeWaitsForDeliveries(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	c := clock.Virtual(start)
	defer c.Close()
	done := make(chan string, 10)
	var l lanes.Lanes[string]
	l = lanes.New(lanes.Options[string]{Clock: c, Places: 1, Waiting: func(job string) string { return job + " waited" },
		Run: func(_ context.Context, job string) {
			done <- fmt.Sprint(job, " ", c.Now().Sub(start))
			if job == "first" {
				l.At("lane", start.Add(time.Hour), "second")
				l.At("lane", start.Add(time.Hour), "third")
			}
		}})
	defer l.Close()
	l.Ready("lane", "first")
	for _, want := range []string{"first 0s", "second waited 1h0m0s"} {
		if got := <-done; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := <-done; !strings.HasPrefix(got, "third waited") || !strings.HasSuffix(got, " 1h0m0s") {
		t.Errorf("got %s", got)
	}
	if n := l.Delayed(); n != 0 {
		t.Errorf("%d delayed", n)
	}
}

// TestCloseEndsDeliveries ends those that run, and makes no others.
func TestCloseEndsDeliveries(t *testing.T) {
	t.Parallel()
	c := clock.Real()
	defer c.Close()
	started, ran := make(chan struct{}), 0
	l := lanes.New(lanes.Options[int]{Clock: c, Places: 1, Run: func(ctx context.Context, _ int) {
		ran++
		close(started)
		<-ctx.Done()
	}})
	l.Ready("lane", 1)
	<-started
	l.Ready("lane", 2)
	l.At("lane", c.Now().Add(time.Hour), 3)
	l.Close()
	l.Ready("lane", 4)
	l.At("lane", c.Now(), 5)
	if ran != 1 || l.Delayed() != 0 {
		t.Errorf("%d deliveries ran, %d are delayed", ran, l.Delayed())
	}
}
