package chaos_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/local/chaos"
	"stepback/tasks/lambda/invocation"
)

// never is a function that is not reached.
type never struct{}

func (never) Invoke(context.Context, *invocation.Request) (*invocation.Answer, error) {
	panic("the function was invoked")
}

// Virtual time does not advance between the end of a fault and the end of the invocations that hang for it, although
// another timer would let hours pass.
func TestAHangEndsAtTheTimeAtWhichItsFaultEnds(t *testing.T) {
	t.Parallel()
	for range 200 {
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c := clock.Virtual(start)
		s := chaos.New(c, []chaos.Service{{Model: "lambda", Signing: "lambda"}})
		c.Hold()
		if _, err := s.Add([]chaos.Wanted{{Fault: "lambda:Invoke:hang:1", For: time.Minute}}); err != nil {
			t.Fatal(err)
		}
		c.Schedule(start.Add(time.Hour), clock.AlarmFunc(func() {}))
		var group sync.WaitGroup
		for range 3 {
			c.Go(t.Context(), &group, 0, func(ctx context.Context) {
				_, err := s.Functions(never{}).Invoke(ctx, &invocation.Request{FunctionName: "f"})
				if err == nil || !c.Now().Equal(start.Add(time.Minute)) {
					t.Errorf("at %s: %v", c.Now(), err)
				}
			})
		}
		c.Release()
		group.Wait()
		c.Close()
	}
}
