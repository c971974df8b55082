package executions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/history"
)

// Engine yields the executions that a filter selects, from an engine in this process and its indexes, until take
// fails. The order is newest first, across all state machines. A machine's name refers to the scope's account and
// region.
func Engine(ctx context.Context, e *engine.Engine, scope aws.Scope, f Filter, take func(*Execution) error) error {
	q := engine.Query{Retrying: f.Retrying, Error: f.Error, Since: f.Since}
	if f.Status != "" {
		q.Statuses = []history.Status{f.Status}
	}
	if f.Retrying {
		q.Statuses = []history.Status{history.Running}
	}
	switch {
	case f.MapRun != "":
		q.Of = f.MapRun
	case strings.HasPrefix(f.Machine, "arn:"):
		q.Of = f.Machine
	case f.Machine != "":
		q.Of = scope.ARN("states", "stateMachine:"+f.Machine)
	}
	n := 0
	for l, err := range e.Listed(ctx, &q) {
		if err != nil {
			return err
		}
		x := listed(&l)
		if err := take(x); err != nil {
			return err
		}
		if n++; n == f.Limit {
			return nil
		}
	}
	return nil
}

// listed converts an execution of an engine's list.
func listed(l *engine.Listed) *Execution {
	x := &Execution{
		ARN: l.ARN, MachineARN: l.MachineARN, MapRunARN: l.MapRunARN, Name: l.Name, Status: l.Status,
		Start: Time{l.Start}, Stop: Time{l.Stop}, Items: l.Items, Redrives: l.RedriveCount,
	}
	if l.Failure.HasName() {
		x.Error = &l.Failure.Name
	}
	if len(l.Retries) > 0 {
		x.Retrying = retrying(l.Retries[0], time.Now())
	}
	return x
}

// retrying describes the retry that an execution waits for.
func retrying(r *engine.Retry, now time.Time) string {
	return retryText(r.State, r.Attempt, r.LastAttempt, r.Next, r.Error, now)
}

func retryText(state string, attempt, last int64, next time.Time, failed string, now time.Time) string {
	of := ""
	if last > 0 { // only a durable function knows how many attempts it makes
		of = fmt.Sprintf(" of %d", last)
	}
	return fmt.Sprintf("%s: attempt %d%s at %s, after %s", state, attempt, of, NextText(next, now), failed)
}

// NextText returns the time at which something happens by itself, and how far away it is. A time that has passed is
// that of a retry that a hold stops.
func NextText(next, now time.Time) string {
	at := next.Local().Format(time.TimeOnly)
	if late := now.Sub(next).Round(time.Second); late > time.Second {
		return fmt.Sprintf("%s (due %s ago, see stepback hold --list)", at, late)
	}
	return fmt.Sprintf("%s (in %s)", at, max(0, next.Sub(now)).Round(time.Second))
}
