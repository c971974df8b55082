package durable

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Usage holds the quantities that AWS charges for an execution, as far as its history shows.
type Usage struct {
	// Operations counts the start of the execution, each operation, and each retry of a step. Retries counts the last.
	Operations, Retries int64
	// Written is the number of bytes of results, errors and inputs of operations. The input and the result of the
	// execution and the results of chained invokes, which no checkpoint writes, are not part of it.
	Written int64
	// Invocations is the number of invocations that have ended, and Compute their total duration.
	Invocations int64
	Compute     time.Duration
	// Lasted is the time from the first event to the last one.
	Lasted time.Duration
}

// UsageOf returns the usage of an execution, whose events are as GetDurableExecutionHistory returns them, from the
// first one on and with their data.
func UsageOf(events []json.RawMessage) (Usage, error) {
	var u Usage
	var first, last time.Time
	known := map[string]bool{}
	for i, text := range events {
		var head struct {
			EventType      string
			EventTimestamp Seconds
		}
		var b body
		if err := json.Unmarshal(text, &head); err != nil {
			return u, fmt.Errorf("event %d of a durable execution: %w", i+1, err)
		}
		if err := json.Unmarshal(text, &b); err != nil {
			return u, fmt.Errorf("event %d of a durable execution: %w", i+1, err)
		}
		if last = time.Time(head.EventTimestamp); first.IsZero() {
			first = last
		}
		switch {
		case head.EventType == "ExecutionStarted":
			u.Operations++
		case strings.HasSuffix(head.EventType, "Started") && !known[b.Id]: // each attempt of a step has a StepStarted
			known[b.Id] = true
			u.Operations++
		}
		if d := b.InvocationCompletedDetails; d != nil {
			u.Invocations++
			u.Compute += time.Time(d.EndTimestamp).Sub(time.Time(d.StartTimestamp))
		}
		if d := b.StepFailedDetails; d != nil && d.RetryDetails != nil && d.RetryDetails.NextAttemptDelaySeconds > 0 {
			u.Operations++
			u.Retries++
		}
		u.Written += b.written()
	}
	u.Lasted = last.Sub(first)
	return u, nil
}

// written returns the bytes that the checkpoint of an event has written.
func (b *body) written() int64 {
	var n int
	for _, r := range []*hasResult{b.ContextSucceededDetails, b.CallbackSucceededDetails} {
		if r != nil {
			n += len(text(r.Result.Payload))
		}
	}
	for _, e := range []*hasError{b.ContextFailedDetails, b.CallbackFailedDetails} {
		if e != nil {
			n += e.Error.Payload.size()
		}
	}
	if d := b.StepSucceededDetails; d != nil {
		n += len(text(d.Result.Payload))
	}
	if d := b.StepFailedDetails; d != nil {
		n += d.Error.Payload.size()
	}
	if d := b.ChainedInvokeStartedDetails; d != nil {
		n += len(text(d.Input.Payload))
	}
	return int64(n)
}
