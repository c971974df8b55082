package mapitems

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/engine/history"
	"stepback/outbox/deadletters"
)

// Deliver implements deadletters.Source.
func (s *Items) Deliver(ctx context.Context, d *deadletters.Delivery) []error {
	errs := make([]error, len(d.Items))
	of := map[string][]int{} // by parent
	for i := range d.Items {
		if it := &d.Items[i]; !it.Gone {
			parent := it.Found.Headers[headerParent]
			of[parent] = append(of[parent], i)
		}
	}
	for parent, items := range of {
		whole, err := s.whole(ctx, parent, d, items)
		if err == nil && whole {
			_, err = s.Client.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: &parent,
				ClientToken: aws.String(d.ID)})
			if _, cannot := errors.AsType[*types.ExecutionNotRedrivable](err); cannot {
				whole, err = false, nil
			}
		}
		for _, i := range items {
			if errs[i] = err; err == nil && !whole {
				errs[i] = s.alone(ctx, d, i)
			}
		}
	}
	return errs
}

// whole reports whether the items are unchanged and are all the failed items of their execution. Then the execution
// can be redriven.
func (s *Items) whole(ctx context.Context, parent string, d *deadletters.Delivery, items []int) (bool, error) {
	x, err := s.describe(ctx, parent)
	if errors.Is(err, deadletters.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !ended(x.Status) || x.Status == types.ExecutionStatusSucceeded {
		return false, nil
	}
	ours := map[string]bool{}
	for _, i := range items {
		if d.Items[i].Edited {
			return false, nil
		}
		ours[d.Items[i].ID] = true
	}
	whole, n := true, 0
	err = s.failed(ctx, parent, func(child string) error {
		whole = whole && ours[child]
		n++
		return nil
	})
	return whole && n == len(items), err
}

// alone runs an item in a separate state machine, unless it was redriven with its execution.
func (s *Items) alone(ctx context.Context, d *deadletters.Delivery, i int) error {
	it := &d.Items[i]
	if x, err := s.describe(ctx, it.ID); err == nil && (!ended(x.Status) ||
		x.Status == types.ExecutionStatusSucceeded || aws.ToTime(x.StopDate).After(time.UnixMicro(d.At))) {
		return nil
	}
	machine, err := s.machine(ctx, it.ID)
	if err != nil {
		return err
	}
	_, err = s.Client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &machine,
		Name: aws.String(nameOf(d, i)), Input: aws.String(string(it.Payload))})
	if _, exists := errors.AsType[*types.ExecutionAlreadyExists](err); exists {
		return nil
	}
	if refused, ok := errors.AsType[*types.InvalidExecutionInput](err); ok {
		return &deadletters.BadActError{Why: refused.ErrorMessage()}
	}
	return err
}

// nameOf returns the name of the execution that runs a single item.
func nameOf(d *deadletters.Delivery, i int) string { return "redrive-" + d.ID + "-" + strconv.Itoa(i) }

// Became implements deadletters.Source.
func (s *Items) Became(ctx context.Context, d *deadletters.Delivery, i int) (deadletters.Letter, error) {
	it := &d.Items[i]
	l := deadletters.Letter(it.Found)
	l.State = deadletters.Underway
	x, err := s.describe(ctx, it.ID)
	if err != nil && !errors.Is(err, deadletters.ErrNotFound) {
		return l, err
	}
	since := time.UnixMicro(d.At)
	if err == nil && (!ended(x.Status) || x.Status == types.ExecutionStatusSucceeded ||
		aws.ToTime(x.StopDate).After(since)) {
		became(&l, x)
		return l, nil
	}
	machine, ok, err := s.existing(ctx, it.ID)
	if err != nil || !ok {
		return l, err
	}
	alone, err := s.describe(ctx, history.ExecutionARN(machine, nameOf(d, i)))
	if errors.Is(err, deadletters.ErrNotFound) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("the redrive of %s: %w", it.ID, err)
	}
	became(&l, alone)
	l.Execution = aws.ToString(alone.ExecutionArn)
	return l, nil
}

// became sets the letter's state from the execution that ran its item.
func became(l *deadletters.Letter, x *sfn.DescribeExecutionOutput) {
	switch {
	case !ended(x.Status):
		l.State = deadletters.Underway
	case x.Status == types.ExecutionStatusSucceeded:
		l.State, l.LastAttemptAt, l.DeadAt = deadletters.Delivered, aws.ToTime(x.StopDate), time.Time{}
	default:
		died(l, x)
	}
}
