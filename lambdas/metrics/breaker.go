package main

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
	"stepback/csvimport/circuitlog"
	"stepback/retrymetrics"
)

// executions lists executions; *sfn.Client implements it.
type executions interface {
	ListExecutions(context.Context, *sfn.ListExecutionsInput, ...func(*sfn.Options)) (*sfn.ListExecutionsOutput, error)
}

// circuit publishes CircuitBreakerState as 1 if the circuit of a callee is open and an execution runs. The functions
// print the state only when they are invoked, and a few batches that wait for an open circuit invoke none for up to
// five minutes. While no execution runs, no call is refused, and the circuit stays open in the table until the next
// call. A half-open circuit is in use, so the functions print it.
func (h *handler) circuit(ctx context.Context) error {
	if h.breakers == nil || h.machineARN == "" {
		return errors.New("BREAKER_TABLE or STATE_MACHINE_ARN is not set; set both to publish the state of the circuit breaker")
	}
	open := false
	for _, callee := range []string{circuitlog.Database, circuitlog.Objects} {
		record, _, err := h.breakers.Add(ctx, callee, limiter.Tally{})
		if err != nil {
			return err
		}
		open = open || record.Breaker.Circuit() == breaker.Open
	}
	if !open {
		return nil
	}
	running, err := h.running.ListExecutions(ctx, &sfn.ListExecutionsInput{
		StateMachineArn: aws.String(h.machineARN), StatusFilter: types.ExecutionStatusRunning, MaxResults: 1,
	})
	if err != nil || len(running.Executions) == 0 {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.publish(ctx, nil, []retrymetrics.Point{{
		Metric: retrymetrics.CircuitBreakerState, Labels: retrymetrics.Labels{StateMachine: h.machine()},
		Start: h.now().UTC().Truncate(time.Minute), Values: []float64{1}, Counts: []int64{1},
	}})
}
