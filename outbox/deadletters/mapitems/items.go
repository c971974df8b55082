package mapitems

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/engine/history"
	"stepback/outbox/deadletters"
)

// Items implements deadletters.Source.
type Items struct {
	Client *sfn.Client
	// Machines are the ARNs of the state machines whose Map Runs are searched; nil means all except those in Except.
	Machines, Except []string
	// Since excludes executions that ended before it; the zero time excludes none.
	Since time.Time
	// Executions calls visit for the ARNs of the executions with failed items, if there is an index of them; nil
	// means that all executions of the state machines are searched.
	Executions func(ctx context.Context, visit func(arn string) error) error
}

// The headers of a letter: its Map Run and the execution of that, even if the item was redriven on its own.
const (
	headerMapRun = "Map-Run"
	headerParent = "Map-Run-Execution"
)

// Kind implements deadletters.Source.
func (s *Items) Kind() deadletters.Kind { return deadletters.KindItem }

// Owns implements deadletters.Source: a letter's ID is the ARN of the child execution.
func (s *Items) Owns(id string) bool {
	_, resource, ok := strings.Cut(id, ":execution:")
	return ok && strings.HasPrefix(id, "arn:") && strings.Contains(resource, "/")
}

// Each implements deadletters.Source.
func (s *Items) Each(ctx context.Context, visit func(deadletters.Letter) error) error {
	if s.Executions != nil {
		return s.Executions(ctx, func(arn string) error { return s.ofExecution(ctx, arn, visit) })
	}
	machines := s.Machines
	if machines == nil {
		pages := sfn.NewListStateMachinesPaginator(s.Client, &sfn.ListStateMachinesInput{})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, m := range page.StateMachines {
				machines = append(machines, aws.ToString(m.StateMachineArn))
			}
		}
	}
	for _, m := range machines {
		if contains(s.Except, m) {
			continue
		}
		if err := s.ofMachine(ctx, m, visit); err != nil {
			return err
		}
	}
	return nil
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

func (s *Items) ofMachine(ctx context.Context, machine string, visit func(deadletters.Letter) error) error {
	pages := sfn.NewListExecutionsPaginator(s.Client, &sfn.ListExecutionsInput{StateMachineArn: &machine})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if _, express := errors.AsType[*types.StateMachineTypeNotSupported](err); express {
			return nil // EXPRESS state machines have no Map Runs to list
		}
		if err != nil {
			return err
		}
		for _, x := range page.Executions {
			if ended(x.Status) && !aws.ToTime(x.StopDate).Before(s.Since) {
				if err := s.ofExecution(ctx, aws.ToString(x.ExecutionArn), visit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func ended(status types.ExecutionStatus) bool {
	return status != types.ExecutionStatusRunning && status != types.ExecutionStatusPendingRedrive
}

// unsuccessful are the statuses of failed child executions.
var unsuccessful = []types.ExecutionStatus{
	types.ExecutionStatusFailed, types.ExecutionStatusTimedOut, types.ExecutionStatusAborted,
}

// ofExecution calls visit for the failed children of an execution.
func (s *Items) ofExecution(ctx context.Context, arn string, visit func(deadletters.Letter) error) error {
	return s.failed(ctx, arn, func(child string) error {
		l, err := s.letter(ctx, child, arn)
		if err != nil {
			return err
		}
		return visit(l)
	})
}

// failed calls visit for the ARNs of the failed children of an execution.
func (s *Items) failed(ctx context.Context, arn string, visit func(child string) error) error {
	runs := sfn.NewListMapRunsPaginator(s.Client, &sfn.ListMapRunsInput{ExecutionArn: &arn})
	for runs.HasMorePages() {
		page, err := runs.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, run := range page.MapRuns {
			for _, status := range unsuccessful {
				children := sfn.NewListExecutionsPaginator(s.Client,
					&sfn.ListExecutionsInput{MapRunArn: run.MapRunArn, StatusFilter: status})
				for children.HasMorePages() {
					page, err := children.NextPage(ctx)
					if err != nil {
						return err
					}
					for _, child := range page.Executions {
						if err := visit(aws.ToString(child.ExecutionArn)); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// describe describes an execution, or fails with deadletters.ErrNotFound.
func (s *Items) describe(ctx context.Context, arn string) (*sfn.DescribeExecutionOutput, error) {
	x, err := s.Client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if _, missing := errors.AsType[*types.ExecutionDoesNotExist](err); missing {
		return nil, deadletters.ErrNotFound
	}
	if _, invalid := errors.AsType[*types.InvalidArn](err); invalid {
		return nil, deadletters.ErrNotFound
	}
	return x, err
}

// Find implements deadletters.Source.
func (s *Items) Find(ctx context.Context, id string) (deadletters.Letter, error) {
	return s.letter(ctx, id, "")
}

// letter returns the letter of a failed child. If parent is empty, it is looked up.
func (s *Items) letter(ctx context.Context, child, parent string) (deadletters.Letter, error) {
	x, err := s.describe(ctx, child)
	if err != nil {
		return deadletters.Letter{}, err
	}
	if aws.ToString(x.MapRunArn) == "" || !ended(x.Status) || x.Status == types.ExecutionStatusSucceeded {
		return deadletters.Letter{}, deadletters.ErrNotFound
	}
	if parent == "" {
		run, err := s.Client.DescribeMapRun(ctx, &sfn.DescribeMapRunInput{MapRunArn: x.MapRunArn})
		if err != nil {
			return deadletters.Letter{}, err
		}
		parent = aws.ToString(run.ExecutionArn)
	}
	_, subject, _ := strings.Cut(child, ":execution:")
	subject, _, _ = strings.Cut(subject, ":")
	attempts, err := s.attempts(ctx, x)
	if err != nil {
		return deadletters.Letter{}, err
	}
	l := deadletters.Letter{
		ID: child, Kind: deadletters.KindItem, State: deadletters.Dead, Subject: subject, Execution: parent,
		Attempts: attempts, CreatedAt: aws.ToTime(x.StartDate),
		ContentType: "application/json", Payload: []byte(aws.ToString(x.Input)),
		Headers: map[string]string{headerMapRun: aws.ToString(x.MapRunArn), headerParent: parent},
	}
	died(&l, x)
	return l, nil
}

// attempts returns how often the task was tried whose failure ended a child execution, in all its redrives together. If
// no task failed, or the history is not available, as for EXPRESS executions on AWS, it returns how often the child
// execution was run.
func (s *Items) attempts(ctx context.Context, x *sfn.DescribeExecutionOutput) (int, error) {
	runs := 1 + int(aws.ToInt32(x.RedriveCount))
	pages := sfn.NewGetExecutionHistoryPaginator(s.Client, &sfn.GetExecutionHistoryInput{ExecutionArn: x.ExecutionArn,
		MaxResults: 1000, IncludeExecutionData: aws.Bool(false)})
	var r history.AttemptReader
	made, failed := map[int64]int{}, int64(0) // attempts by the event that entered the task's state
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		_, missing := errors.AsType[*types.ExecutionDoesNotExist](err)
		if _, invalid := errors.AsType[*types.InvalidArn](err); missing || invalid {
			return runs, nil
		}
		if err != nil {
			return 0, err
		}
		for i := range page.Events {
			e := eventOf(&page.Events[i])
			c := r.Read(&e)
			if a := c.Attempt; a != nil && (c.Begins || a.Failed()) {
				if c.Begins {
					made[a.Entered]++
				}
				if a.Failed() {
					failed = a.Entered
				}
			}
		}
	}
	return max(runs, made[failed]), nil
}

// eventOf converts the parts of an event by which attempts are counted.
func eventOf(e *types.HistoryEvent) history.Event {
	out := history.Event{ID: e.Id, Previous: e.PreviousEventId, Type: history.TypeNamed(string(e.Type)),
		Time: aws.ToTime(e.Timestamp).UnixNano()}
	if d := e.StateEnteredEventDetails; d != nil {
		out.Name = aws.ToString(d.Name)
	}
	switch {
	case e.TaskScheduledEventDetails != nil:
		d := e.TaskScheduledEventDetails
		out.More = &history.Details{ResourceType: aws.ToString(d.ResourceType), Resource: aws.ToString(d.Resource)}
	case e.LambdaFunctionScheduledEventDetails != nil:
		out.More = &history.Details{Resource: aws.ToString(e.LambdaFunctionScheduledEventDetails.Resource)}
	case e.ActivityScheduledEventDetails != nil:
		out.More = &history.Details{Resource: aws.ToString(e.ActivityScheduledEventDetails.Resource)}
	}
	return out
}

// died marks a letter as dead and copies the reason from the failed execution.
func died(l *deadletters.Letter, x *sfn.DescribeExecutionOutput) {
	l.State, l.Reason = deadletters.Dead, string(x.Status)
	l.Error, l.Cause = aws.ToString(x.Error), aws.ToString(x.Cause)
	l.DeadAt, l.LastAttemptAt = aws.ToTime(x.StopDate), aws.ToTime(x.StopDate)
}

// CheckEdit implements deadletters.Source: the payload must be JSON that an execution accepts as input.
func (s *Items) CheckEdit(_ *deadletters.Letter, payload []byte) error {
	const most = 256 << 10
	if len(payload) > most {
		return &deadletters.BadActError{Why: fmt.Sprintf("the edited input has %d bytes; an execution accepts at most %d",
			len(payload), most)}
	}
	if !json.Valid(payload) {
		return &deadletters.BadActError{Why: "the edited input is not JSON; nothing was changed"}
	}
	return nil
}
