package histories

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"

	"stepback/adaptive/analysis"
	"stepback/engine/history"
)

// StepFunctions is the part of the Step Functions client that [API] uses.
type StepFunctions interface {
	sfn.ListStateMachinesAPIClient
	sfn.ListExecutionsAPIClient
	sfn.ListMapRunsAPIClient
	sfn.GetExecutionHistoryAPIClient
	DescribeStateMachineForExecution(context.Context, *sfn.DescribeStateMachineForExecutionInput,
		...func(*sfn.Options)) (*sfn.DescribeStateMachineForExecutionOutput, error)
}

// API reads the executions of STANDARD state machines and their child executions. An execution that has been deleted
// before its history is requested is left out.
//
// State machines are listed only if the selection names none by its ARN.
func API(ctx context.Context, client StepFunctions, s Selection, c *analysis.Collector) error {
	r := apiReader{client: client, selection: s, collector: c, rules: map[string]string{}}
	if strings.HasPrefix(s.Machine, "arn:") {
		err := r.executions(ctx, &sfn.ListExecutionsInput{StateMachineArn: &s.Machine}, "")
		var none *types.StateMachineDoesNotExist
		var express *types.StateMachineTypeNotSupported
		if errors.As(err, &none) || errors.As(err, &express) {
			return noMachine(s.Machine)
		}
		return err
	}
	for pages := sfn.NewListStateMachinesPaginator(client, &sfn.ListStateMachinesInput{}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("listing state machines: %w", err)
		}
		for _, m := range page.StateMachines {
			arn := aws.ToString(m.StateMachineArn)
			if m.Type == types.StateMachineTypeExpress || !s.takes(arn, s.Since) {
				continue
			}
			r.found = true
			if err := r.executions(ctx, &sfn.ListExecutionsInput{StateMachineArn: &arn}, ""); err != nil {
				return err
			}
		}
	}
	if !r.found && s.Machine != "" {
		return noMachine(s.Machine)
	}
	return nil
}

func noMachine(machine string) error {
	return fmt.Errorf("there is no state machine %q of type STANDARD", machine)
}

type apiReader struct {
	client    StepFunctions
	selection Selection
	collector *analysis.Collector
	rules     map[string]string // by the text of the definition
	found     bool
	read      int // histories read so far
}

// executions reads the executions of a state machine, or the child executions of a Map Run, newest first. Child
// executions run under their parent's rules.
func (r *apiReader) executions(ctx context.Context, in *sfn.ListExecutionsInput, rules string) error {
	closed := in.MapRunArn != nil
	for pages := sfn.NewListExecutionsPaginator(r.client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("listing executions: %w", err)
		}
		for _, x := range page.Executions {
			if r.selection.Most > 0 && r.read >= r.selection.Most {
				return nil
			}
			if aws.ToTime(x.StartDate).Before(r.selection.Since) {
				if closed {
					continue
				}
				return nil
			}
			if err := r.execution(ctx, &x, rules); err != nil {
				return fmt.Errorf("%s: %w", aws.ToString(x.ExecutionArn), err)
			}
		}
	}
	return nil
}

func (r *apiReader) execution(ctx context.Context, x *types.ExecutionListItem, rules string) error {
	closed := x.MapRunArn != nil
	if !closed {
		var err error
		if rules, err = r.rulesOf(ctx, x.ExecutionArn); err != nil {
			return err
		}
	}
	events, err := r.history(ctx, x.ExecutionArn)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	r.read++
	r.collector.AddHistory(analysis.Execution{
		ARN: aws.ToString(x.ExecutionArn), Rules: rules, MapRun: aws.ToString(x.MapRunArn),
		Ended: x.Status != types.ExecutionStatusRunning && x.Status != types.ExecutionStatusPendingRedrive,
	}, events)
	for i := range events {
		if events[i].Type == history.MapRunStarted {
			return r.mapRuns(ctx, x.ExecutionArn, rules)
		}
	}
	return nil
}

func (r *apiReader) mapRuns(ctx context.Context, execution *string, rules string) error {
	pages := sfn.NewListMapRunsPaginator(r.client, &sfn.ListMapRunsInput{ExecutionArn: execution})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if gone(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("listing Map Runs: %w", err)
		}
		for _, m := range page.MapRuns {
			if err := r.executions(ctx, &sfn.ListExecutionsInput{MapRunArn: m.MapRunArn}, rules); err != nil {
				return err
			}
		}
	}
	return nil
}

// rulesOf registers the Retry arrays of an execution with the collector and returns their ID; empty if its definition
// is not available.
func (r *apiReader) rulesOf(ctx context.Context, execution *string) (string, error) {
	d, err := r.client.DescribeStateMachineForExecution(ctx,
		&sfn.DescribeStateMachineForExecutionInput{ExecutionArn: execution})
	if gone(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("its state machine: %w", err)
	}
	text := aws.ToString(d.Definition)
	id, known := r.rules[text]
	if known {
		return id, nil
	}
	states, err := analysis.RulesOf(text)
	if err == nil {
		id = fmt.Sprintf("%s %d", aws.ToString(d.StateMachineArn), len(r.rules)+1)
		r.collector.Rules(id, states)
	}
	r.rules[text] = id
	return id, nil // if this program cannot parse the definition, its executions are read without rules
}

func (r *apiReader) history(ctx context.Context, execution *string) ([]history.Event, error) {
	var all []history.Event
	in := &sfn.GetExecutionHistoryInput{ExecutionArn: execution, MaxResults: 1000}
	for pages := sfn.NewGetExecutionHistoryPaginator(r.client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("its history: %w", err)
		}
		for i := range page.Events {
			all = append(all, eventOf(&page.Events[i]))
		}
	}
	return all, nil
}

// gone reports whether the resource was deleted or is not stored.
func gone(err error) bool {
	var e smithy.APIError
	if !errors.As(err, &e) {
		return false
	}
	switch e.ErrorCode() {
	case "ExecutionDoesNotExist", "StateMachineDoesNotExist", "ResourceNotFound":
		return true
	}
	return false
}
