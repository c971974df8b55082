package faults

import (
	"context"
	"strings"

	"stepback/tasks/lambda/invocation"
)

// Batch says that the invocations of one state carry several items, each of which another state takes by itself. The
// other state's faults then befall them as follows:
//
//   - An error that a function reports, such as DatabaseConnectionError, is drawn for each item, as for its first
//     invocation by itself. An item that it hits is taken out of the batch and comes back as one that failed; the first
//     invocation of that item by itself fails, too, and only that one is counted.
//   - What befalls an invocation as a whole (hang, crash, throttle, Lambda.*, States.*, Sandbox.*, Runtime.*) is drawn
//     once for the batch.
type Batch struct {
	State, Items string
	// Split is the event of a batch as the events of its items by themselves; false for another event.
	Split func(event []byte) ([][]byte, bool)
	// Without is the event without the items that failed, named by their place and error, and how these come into the
	// answer.
	Without func(event []byte, failed map[int]string) (rest []byte, add func(answer []byte) []byte)
}

// OfItem tells whether a fault is an item's alone where an invocation carries several: an error that a function reports
// about it.
func (s Spec) OfItem() bool {
	switch s.Error {
	case Hang, Crash, Throttle:
		return false
	}
	for _, prefix := range []string{"Lambda.", "States.", "Sandbox.", "Runtime."} {
		if strings.HasPrefix(s.Error, prefix) {
			return false
		}
	}
	return true
}

// firstAttempt is the number of a task's first attempt.
const firstAttempt = 0

// itemFaults are the items of a batch that a fault befalls: the errors by their place.
func (i *Injector) itemFaults(b *Batch, event []byte) map[int]string {
	var own []fault
	for _, f := range i.faults[b.Items] {
		if f.OfItem() {
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		return nil
	}
	items, ok := b.Split(event)
	if !ok {
		return nil
	}
	failed := map[int]string{}
	for n, item := range items {
		if f, _, ok := cast(own, b.Items, string(item), firstAttempt); ok {
			failed[n] = f.Error
		}
	}
	return failed
}

// carried invokes a function with a batch, less the items that faults befall.
func (f functions) carried(ctx context.Context, b *Batch, r *invocation.Request) (*invocation.Answer, error) {
	failed := f.itemFaults(b, r.Payload)
	if len(failed) == 0 {
		return f.next.Invoke(ctx, r)
	}
	rest, add := b.Without(r.Payload, failed)
	less := *r
	less.Payload = rest
	answer, err := f.next.Invoke(ctx, &less)
	if err == nil && answer.FunctionError == "" {
		whole := *answer
		whole.Payload = add(answer.Payload)
		answer = &whole
	}
	return answer, err
}
