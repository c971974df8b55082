package faults

import (
	"context"
	"strings"

	"stepback/tasks/lambda/invocation"
)

// Batch describes a state whose invocations carry several items, each of which another state would process by
// itself. The other state's faults then apply as follows:
//
//   - An error that a function reports, such as DatabaseConnectionError, is drawn for each item, as for the item's
//     first invocation by itself. An affected item is removed from the batch and returned as failed. Its first
//     invocation by itself fails, too, and only that failure is counted.
//   - A fault of a whole invocation (hang, crash, throttle, Lambda.*, States.*, Sandbox.*, Runtime.*) is drawn once
//     for the batch.
type Batch struct {
	State, Items string
	// Split splits the event of a batch into the events of its items. It returns false for any other event.
	Split func(event []byte) ([][]byte, bool)
	// Without removes the failed items from an event. failed maps their positions to their errors. rest is the
	// event without them, and add adds them to the response.
	Without func(event []byte, failed map[int]string) (rest []byte, add func(answer []byte) []byte)
}

// OfItem reports whether a fault affects single items of an invocation that carries several: an error that a function
// reports about an item.
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

// itemFaults returns the errors of the affected items in a batch, keyed by position.
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

// invokeBatch invokes a function with a batch, without the items that faults affect.
func (f functions) invokeBatch(ctx context.Context, b *Batch, r *invocation.Request) (*invocation.Answer, error) {
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
