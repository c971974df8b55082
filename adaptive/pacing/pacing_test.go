package pacing_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"stepback/adaptive/pacing"
)

// callee serves at most capacity calls at a time, of which others take a share, for service each. A call beyond that
// fails at once.
type callee struct {
	capacity, others int
	service          time.Duration
	random           *rand.Rand
	began            time.Time

	until    map[string]time.Time
	refused  map[string]bool
	offered  []int // calls under way, by tenths of a second
	attempts map[string]int
}

func (c *callee) busy(now time.Time) int {
	n := c.others
	for id, end := range c.until {
		if end.After(now) && !c.refused[id] {
			n++
		}
	}
	return n
}

func (c *callee) Begin(_ context.Context, id string) error {
	now := time.Now()
	c.attempts[id]++
	busy := c.busy(now)
	c.refused[id] = busy >= c.capacity
	c.until[id] = now.Add(time.Duration((0.5 + c.random.Float64()) * float64(c.service)))
	tenth := int(now.Sub(c.began) / (100 * time.Millisecond))
	for len(c.offered) <= tenth {
		c.offered = append(c.offered, 0)
	}
	c.offered[tenth] = max(c.offered[tenth], busy+1)
	return nil
}

func (c *callee) Ended(_ context.Context, ids []string) (map[string]bool, error) {
	ended := map[string]bool{}
	for _, id := range ids {
		if end := c.until[id]; !end.After(time.Now()) || c.refused[id] {
			ended[id] = !c.refused[id]
			delete(c.until, id)
			delete(c.refused, id)
		}
	}
	return ended, nil
}

// TestFiveThousand redrives 5,000 executions onto a callee whose capacity is 100 calls at a time, and 60 of them are
// taken: all succeed, the callee is never called above its capacity for ten seconds on end, and the whole takes at most
// 1.3 times what a fluid of work would take through the 40 that are left.
func TestFiveThousand(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			c := &callee{capacity: 100, others: 60, service: time.Second, random: rand.New(rand.NewPCG(seed, 1)),
				began: time.Now(),
				until: map[string]time.Time{}, refused: map[string]bool{}, attempts: map[string]int{}}
			ids := make([]string, 5000)
			for i := range ids {
				ids[i] = fmt.Sprint(i)
			}
			got, err := pacing.Run(t.Context(), ids, c, pacing.Config{Attempts: 50}, nil)
			if err != nil || got.Succeeded != 5000 || got.Done() != 5000 {
				t.Fatalf("%+v, %v", got, err)
			}
			fluid := time.Duration(float64(5000*c.service) / float64(c.capacity-c.others))
			took := time.Since(c.began)
			above, longest := 0, 0
			for _, n := range c.offered {
				if above++; n <= c.capacity {
					above = 0
				}
				longest = max(longest, above)
			}
			t.Logf("took %v, fluid %v, above capacity for %.1f s, %d begun again", took, fluid, float64(longest)/10, got.Again)
			if took > fluid*13/10 || longest >= 100 {
				t.Errorf("took %v of %v; above capacity for %d tenths of a second", took, fluid*13/10, longest)
			}
		})
	}
}

// failing is work that always fails, or cannot begin.
type failing struct{ refuse error }

func (f failing) Begin(context.Context, string) error { return f.refuse }

func (f failing) Ended(_ context.Context, ids []string) (map[string]bool, error) {
	ended := map[string]bool{}
	for _, id := range ids {
		ended[id] = false
	}
	return ended, nil
}

func TestFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var last error
		got, err := pacing.Run(t.Context(), []string{"a", "b"}, failing{}, pacing.Config{Attempts: 3}, func(_ string, err error) { last = err })
		if err != nil || got.Failed != 2 || got.Again != 4 || !errors.Is(last, pacing.ErrFailed) {
			t.Errorf("%+v, %v, %v", got, err, last)
		}
		refusal := errors.New("not redrivable")
		got, err = pacing.Run(t.Context(), []string{"a"}, failing{refusal}, pacing.Config{}, func(_ string, err error) { last = err })
		if err != nil || got.Refused != 1 || !errors.Is(last, refusal) {
			t.Errorf("%+v, %v, %v", got, err, last)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := pacing.Run(ctx, []string{"a"}, failing{}, pacing.Config{}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}
