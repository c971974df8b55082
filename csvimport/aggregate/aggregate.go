package aggregate

import (
	"context"
	"time"

	"stepback/csvimport"
)

// Aggregator sums up executions.
type Aggregator struct {
	Objects csvimport.Objects
	Store   csvimport.Store
	Now     func() time.Time // time.Now when nil
}

// Aggregate sums up one execution. AggregateMismatch means that the results contradict each other or the file; nothing
// was written then.
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
	if err := r.write(ctx, out); err != nil {
		return Output{}, err
	}
	return out, a.tell(ctx, in, out)
}

// now has the milliseconds that Step Functions gives its times, such as that of the start.
func (a *Aggregator) now() time.Time {
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}
