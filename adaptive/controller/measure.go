package controller

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stepback/adaptive/controller/decide"
	"stepback/retry"
	"stepback/retrymetrics"
)

// Metrics reads metrics minute by minute.
type Metrics interface {
	// Minutes returns the values of each series by minute, in [from, to), with its metric's statistic: the sum of
	// counts, the average of durations, the maximum of levels. A minute without a value is absent. The results are
	// in the order of the series. It returns an error if a minute occurs twice.
	Minutes(ctx context.Context, all []retrymetrics.Series, from, to time.Time) ([]map[time.Time]float64, error)
}

// Measure measures a state of the named machine. It reads an hour of metrics by error, and a day for the callee's
// capacity.
func Measure(ctx context.Context, from Metrics, machine string, t Target, capacity float64, now time.Time,
) (decide.Measurement, error) {
	m := decide.Measurement{Now: now, CallTimeout: t.Timeout, Capacity: decide.Capacity{
		PerSecond: capacity, Saturated: capacity > 0,
	}}
	end := now.Truncate(time.Minute)
	names := loadErrors(t)
	all := append(make([]retrymetrics.Series, 0, 3+len(names)),
		retrymetrics.TaskAttempts.In(retrymetrics.ByState, machine, t.State),
		retrymetrics.TaskFailures.In(retrymetrics.ByState, machine, t.State),
		retrymetrics.RetryAttempts.In(retrymetrics.ByState, machine, t.State))
	for _, name := range names {
		all = append(all, retrymetrics.TaskFailures.In(retrymetrics.ByStateAndError, machine, t.State, name))
	}
	hour, err := from.Minutes(ctx, all, end.Add(-time.Hour), end)
	if err != nil {
		return m, fmt.Errorf("state %s: %w", t.State, err)
	}
	m.Points = points(hour, names)
	if capacity > 0 {
		return m, nil
	}
	day, err := from.Minutes(ctx, all[:2], end.Add(-24*time.Hour), end)
	if err != nil {
		return m, fmt.Errorf("state %s: %w", t.State, err)
	}
	for at, attempts := range day[0] {
		good := attempts - day[1][at]
		if perSecond := good / 60; perSecond > m.Capacity.PerSecond {
			// A minute in which a fifth of the attempts failed shows the callee's capacity. Any other minute shows
			// only the demand.
			m.Capacity = decide.Capacity{PerSecond: perSecond, Saturated: day[1][at] >= 0.2*attempts}
		}
	}
	return m, nil
}

// MeasureFunction reads an hour of Lambda's own metrics of a function. It returns nil if there are none. A function
// without errors has no error values, so a missing error count is 0; every other missing number is unknown.
func MeasureFunction(ctx context.Context, from Metrics, function string, limit float64, now time.Time,
) (*decide.Function, error) {
	end := now.Truncate(time.Minute)
	hour, err := from.Minutes(ctx, []retrymetrics.Series{
		retrymetrics.FunctionInvocations.In(retrymetrics.ByFunction, function),
		retrymetrics.FunctionErrors.In(retrymetrics.ByFunction, function),
		retrymetrics.FunctionDuration.In(retrymetrics.ByFunction, function),
		retrymetrics.FunctionConcurrency.In(retrymetrics.ByFunction, function),
	}, end.Add(-time.Hour), end)
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", function, err)
	}
	f := &decide.Function{Concurrent: math.NaN(), Limit: limit}
	var invocations, errs, lasted, timed float64
	for at, n := range hour[0] {
		invocations += n
		errs += hour[1][at]
		if mean, ok := hour[2][at]; ok {
			lasted += n * mean
			timed += n
		}
	}
	if !(invocations > 0) {
		return nil, nil
	}
	f.ErrorRate = errs / invocations
	if mean := lasted / timed; timed > 0 && mean >= 0 && mean < float64(24*time.Hour/time.Millisecond) {
		f.Duration = time.Duration(mean * float64(time.Millisecond))
	}
	for _, n := range hour[3] {
		if !(f.Concurrent >= n) {
			f.Concurrent = n
		}
	}
	return f, nil
}

// points combines the series of an hour into points. A minute counts as measured if it has values for attempts,
// failures and retries. An error that did not occur in a minute has no value, which counts as 0.
func points(series []map[time.Time]float64, names []string) []decide.Point {
	attempts, failures, retries := series[0], series[1], series[2]
	var out []decide.Point
	for at, n := range attempts {
		failed, ok := failures[at]
		retried, retriedToo := retries[at]
		if !ok || !retriedToo {
			continue
		}
		p := decide.Point{
			Start: at, Attempts: n, FirstAttempts: max(n-retried, 0), Successes: n - failed,
			Exhausted: max(failed-retried, 0),
		}
		for i, name := range names {
			x := series[3+i][at]
			p.LoadFailures += x
			if retry.IsOverload(name) {
				p.Overload += x
			}
		}
		// Attempts are counted when they begin and failures when they end, so a minute may include failures of the
		// minute before.
		if p.LoadFailures > n {
			p.Overload *= n / p.LoadFailures
			p.LoadFailures = n
		}
		p.Successes = max(p.Successes, 0)
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b decide.Point) int { return a.Start.Compare(b.Start) })
	return out
}

// loadErrors returns the load errors that the state's retriers name, in the spelling that metrics use.
func loadErrors(t Target) []string {
	var names []string
	for _, r := range t.Base {
		for _, name := range r.ErrorEquals {
			if name = retrymetrics.ErrorTypeOf(name); retry.IsLoadError(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// nameOf returns a state machine's name from its ARN.
func nameOf(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }

// Recorded implements [Metrics] with the metrics of a data directory.
type Recorded []retrymetrics.Point

// Minutes implements [Metrics].
func (r Recorded) Minutes(
	_ context.Context,
	all []retrymetrics.Series,
	from, to time.Time,
) ([]map[time.Time]float64, error) {
	out := make([]map[time.Time]float64, len(all))
	for i, s := range all {
		if err := s.Check(); err != nil {
			return nil, err
		}
		out[i] = map[time.Time]float64{}
		for j := range r {
			p := &r[j]
			if p.Start.Before(from) || !p.Start.Before(to) || !s.Matches(p) {
				continue
			}
			for k, value := range p.Values {
				out[i][p.Start.Truncate(time.Minute).UTC()] += value * float64(p.Counts[k])
			}
		}
	}
	return out, nil
}
