package aggregate

import (
	"context"
	"time"

	"stepback/csvimport"
)

// Aggregator sums up the results of executions.
type Aggregator struct {
	Objects csvimport.Objects
	Store   csvimport.Store
	Now     func() time.Time // nil means time.Now
}

// Aggregate sums up the results of one execution. If they contradict each other or the file, it fails with
// AggregateMismatch and has written nothing.
func (a *Aggregator) Aggregate(ctx context.Context, in Input) (Output, error) {
	in.Source = in.Source.Normal()
	if err := in.check(); err != nil {
		return Output{}, err
	}
	files, err := a.resultFiles(ctx, in)
	if err != nil {
		return Output{}, err
	}
	r, err := newRun(a, in)
	if err != nil {
		return Output{}, err
	}
	defer r.close()
	if err := r.readResults(ctx, files); err != nil {
		return Output{}, err
	}
	if err := r.settleMissing(ctx); err != nil {
		return Output{}, err
	}
	out, err := r.sum()
	if err != nil {
		return Output{}, err
	}
	if in.Part.Count > 0 {
		return a.aggregatePart(ctx, r, out)
	}
	if err := r.write(ctx, out); err != nil {
		return Output{}, err
	}
	return out, a.conclude(ctx, in, out)
}

// now returns the current time in milliseconds, the precision of Step Functions' times, such as the start time.
func (a *Aggregator) now() time.Time {
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}
