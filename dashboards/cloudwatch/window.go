package cloudwatch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stepback/dashboards/render"
)

// usualRange is the range of a dashboard that has no setting of its own, as in CloudWatch's console.
const usualRange = 3 * time.Hour

// ranges are the ranges in which data are looked for, one after the other.
var ranges = []time.Duration{24 * time.Hour, 7 * 24 * time.Hour, 63 * 24 * time.Hour, 455 * 24 * time.Hour}

// The shortest window that data choose: three periods, at least.
const (
	shortest    = 10 * time.Minute
	fewestParts = 3
)

// Around returns the window in which a dashboard has data, up to a time: the data within the dashboard's own range, or
// 3 hours if it has none, with a margin. If there are none in that range, longer ranges are tried, up to the 15 months
// for which CloudWatch keeps data. Values of 0 count only if there are no others: a queue measures them when nothing
// happens. The error is that of the context.
func (s *Source) Around(ctx context.Context, body []byte, now time.Time) (render.Window, error) {
	own, ok := render.Range(body)
	if !ok {
		own = usualRange
	}
	usual := render.Window{From: now.Add(-own).Truncate(time.Minute), To: now}
	for _, back := range append([]time.Duration{own}, slices.DeleteFunc(slices.Clone(ranges),
		func(d time.Duration) bool { return d <= own })...) {
		w := render.Window{From: now.Add(-back).Truncate(time.Minute), To: now}
		if back >= time.Hour {
			w.From = w.From.Truncate(time.Hour)
		}
		queries, err := render.Watched(body, w)
		if err != nil || len(queries) == 0 {
			return usual, err
		}
		var e extent
		for _, some := range byRegion(queries) {
			found, err := s.Metrics(ctx, w.From, w.To, some)
			if ctx.Err() != nil {
				return usual, ctx.Err()
			}
			if err != nil {
				continue // the widgets say so when they are drawn
			}
			e.add(found, some)
		}
		if from, to, ok := e.ends(); ok {
			return around(from, to, longest(queries), w), nil
		}
	}
	return usual, nil
}

// byRegion divides queries into requests, each for one region.
func byRegion(all []render.Query) [][]render.Query {
	groups := map[string][]render.Query{}
	var regions []string
	for _, q := range all {
		if groups[q.Region] == nil {
			regions = append(regions, q.Region)
		}
		groups[q.Region] = append(groups[q.Region], q)
	}
	out := make([][]render.Query, 0, len(regions))
	for _, r := range regions {
		out = append(out, slices.Collect(slices.Chunk(groups[r], maxQueries))...)
	}
	return out
}

// extent is the range of time with data: of all values, and of those that are not 0.
type extent struct{ from, to [2]time.Time }

func (e *extent) add(found []render.Series, queries []render.Query) {
	for _, r := range found {
		i := slices.IndexFunc(queries, func(q render.Query) bool { return q.ID == r.ID })
		for n, at := range r.Times {
			for kind := range 2 {
				if kind == 1 && r.Values[n] == 0 {
					continue
				}
				if e.from[kind].IsZero() || at.Before(e.from[kind]) {
					e.from[kind] = at
				}
				if end := at.Add(queries[i].Period); end.After(e.to[kind]) {
					e.to[kind] = end
				}
			}
		}
	}
}

// ends returns the extent of the values that are not 0 or, if there are none, of all values. ok is false without
// values.
func (e *extent) ends() (from, to time.Time, ok bool) {
	for _, kind := range []int{1, 0} {
		if !e.from[kind].IsZero() {
			return e.from[kind], e.to[kind], true
		}
	}
	return time.Time{}, time.Time{}, false
}

func longest(queries []render.Query) time.Duration {
	return slices.MaxFunc(queries, func(a, b render.Query) int { return cmp.Compare(a.Period, b.Period) }).Period
}

// around returns the window around data within another window. It ends with the last period, which may not be over.
func around(from, to time.Time, period time.Duration, in render.Window) render.Window {
	least := max(shortest, fewestParts*period)
	margin := max(to.Sub(from)/20, time.Minute)
	if missing := least - to.Sub(from); missing > 0 {
		margin = max(margin, missing/2)
	}
	w := render.Window{From: from.Add(-margin).Truncate(time.Minute), To: to.Add(margin).Truncate(time.Minute),
		Now: in.To}
	if w.To.After(in.To) {
		w.To = in.To
	}
	if w.To.Before(to) {
		w.To = to
	}
	if w.From.Before(in.From) {
		w.From = in.From
	}
	if w.To.Sub(w.From) < least {
		w.From = w.To.Add(-least)
	}
	return w
}
