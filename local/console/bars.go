package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/engine/history"
	"stepback/engine/timeline"
	"stepback/internal/spelling"
)

// bars returns the timeline, or one page of it. runs are the execution's Map Runs.
func bars(r *request, t *timeline.Timeline, runs []MapRunLink) *BarsView {
	v := &BarsView{Begin: t.Begin, End: t.End, State: r.param("state"), From: int(r.number("from", 0)), Rows: []BarRow{}}
	if t.Status == history.Running {
		v.End = r.now
	}
	if v.End.Sub(v.Begin) < time.Millisecond {
		v.End = v.Begin.Add(time.Millisecond)
	}
	inside := map[*timeline.Visit]int{}
	for _, visit := range t.Visits {
		for p := visit.Parent; p != nil; p = p.Parent {
			inside[p]++
		}
	}
	open := map[string]bool{}
	for n := range strings.SplitSeq(r.param("open"), ",") {
		open[n] = true
	}
	folded := func(p *timeline.Visit) bool { return inside[p] > foldAbove && !open[strconv.Itoa(p.Number)] }
	var shown []*timeline.Visit
	for _, visit := range t.Visits {
		hide := false
		for p := visit.Parent; p != nil && !hide && v.State == ""; p = p.Parent {
			hide = folded(p)
		}
		switch {
		case v.State != "" && visit.State != v.State:
		case hide:
			v.Hid++
		default:
			shown = append(shown, visit)
		}
	}
	v.Total = len(shown)
	v.From = min(v.From, max(0, v.Total-1))
	end := min(v.Total, v.From+shownVisits)
	if end < v.Total {
		v.Next = end
	}
	v.Prev = max(0, v.From-shownVisits)
	for _, visit := range shown[v.From:end] {
		row := BarRow{Visit: visit, Retries: visit.Retries(), Took: v.End.Sub(visit.Entered)}
		if !visit.Left.IsZero() {
			row.Took = visit.Left.Sub(visit.Entered)
		}
		if n := inside[visit]; n > foldAbove {
			row.Fold, row.Open = n, !folded(visit)
		}
		if row.Fold > 0 && !row.Open {
			row.Bars = v.density(t, visit)
		} else {
			row.Bars = v.attempts(visit)
		}
		row.Describe = describe(visit, runs)
		v.Rows = append(v.Rows, row)
	}
	return v
}

// describe describes a visit in words, for the table. A Map Run counts its items itself.
func describe(v *timeline.Visit, runs []MapRunLink) string {
	if i := slices.IndexFunc(runs, func(m MapRunLink) bool { return m.ARN == v.MapRunARN }); i >= 0 {
		items := &runs[i].Items
		return fmt.Sprintf("%s, %d of %s", v.Outcome,
			items.Succeeded+items.Failed+items.TimedOut+items.Aborted, spelling.Counted(items.Total(), "item"))
	}
	switch {
	case len(v.Attempts) > 1:
		return fmt.Sprintf("%s, %d attempts", v.Outcome, len(v.Attempts))
	case v.Items > 0:
		return fmt.Sprintf("%s, %d of %s", v.Outcome, v.Done+v.Broken, spelling.Counted(v.Items, "item"))
	}
	return string(v.Outcome)
}

// bar returns the bar for a span of time.
func (v *BarsView) bar(kind, class string, from, until time.Time, title string) Bar {
	if until.IsZero() || until.After(v.End) {
		until = v.End
	}
	whole := float64(v.End.Sub(v.Begin))
	x := 1000 * float64(from.Sub(v.Begin)) / whole
	w := 1000 * float64(until.Sub(from)) / whole
	const least = 4
	w = max(w, least)
	x = max(0, min(x, 1000-w))
	return Bar{Kind: kind, Class: class, X: math.Round(x*10) / 10, Width: math.Round(w*10) / 10,
		Title: title + ", " + timeline.Short(until.Sub(from))}
}

// attempts returns the bars of a visit, one for each attempt and each wait.
func (v *BarsView) attempts(visit *timeline.Visit) []Bar {
	var out []Bar
	if len(visit.Attempts) == 0 {
		class := strings.ReplaceAll(string(visit.Outcome), " ", "-")
		if visit.Passive() && !visit.Outcome.Bad() {
			class = "wait"
		}
		return []Bar{v.bar("visit", class, visit.Entered, visit.Left, string(visit.Outcome))}
	}
	for i := range visit.Attempts {
		a := &visit.Attempts[i]
		began := a.Scheduled
		if !a.Started.IsZero() && a.Started.Sub(a.Scheduled) > 0 {
			out = append(out, v.bar("queue", "queue", a.Scheduled, a.Started, "waits for a worker"))
			began = a.Started
		}
		title := fmt.Sprintf("attempt %d %s", a.Number, a.Outcome)
		if a.Failure.HasName() {
			title += " with " + clip(80, a.Failure.Name)
		}
		out = append(out, v.bar("attempt", strings.ReplaceAll(string(a.Outcome), " ", "-"), began, a.Ended, title))
	}
	for _, w := range visit.Waits() {
		out = append(out, v.bar("wait", "wait", w.From, w.Until, fmt.Sprintf("waits before retry %d", w.Retry)))
	}
	// Short bars are drawn on top of long ones.
	slices.SortStableFunc(out, func(a, b Bar) int { return cmp.Compare(btoi(a.Kind == "attempt"), btoi(b.Kind == "attempt")) })
	return out
}

// density returns bars showing how many of the visits inside a state run at a time.
func (v *BarsView) density(t *timeline.Timeline, of *timeline.Visit) []Bar {
	var level, bad [strips]int
	whole := v.End.Sub(v.Begin)
	at := func(t time.Time) int {
		return max(0, min(strips-1, int(float64(strips)*float64(t.Sub(v.Begin))/float64(whole))))
	}
	most := 1
	for _, visit := range t.Visits {
		if visit.Parent != of {
			continue
		}
		left := visit.Left
		if left.IsZero() {
			left = v.End
		}
		for i := at(visit.Entered); i <= at(left); i++ {
			level[i]++
			if visit.Outcome.Bad() {
				bad[i]++
			}
			most = max(most, level[i])
		}
	}
	var out []Bar
	for i, n := range level {
		if n == 0 {
			continue
		}
		class := "succeeded"
		if bad[i] > 0 {
			class = "failed"
		}
		out = append(out, Bar{Kind: "density", Class: class, X: float64(i) * 1000 / strips, Width: 1000 / strips,
			Level: 100 * float64(n) / float64(most), Title: fmt.Sprintf("%d at a time, %d of them fail", n, bad[i])})
	}
	return out
}

// EventsView is one page of the events.
type EventsView struct {
	Rows  []EventRow `json:"rows"`
	From  int64      `json:"from"`
	Next  int64      `json:"next,omitempty"`
	Prev  int64      `json:"prev,omitempty"`
	Total int        `json:"total"`
	One   *EventRow  `json:"event,omitempty"`
	Bad   bool       `json:"failuresOnly,omitempty"`
}

// EventRow is one event in the list.
type EventRow struct {
	ID       int64           `json:"id"`
	Previous int64           `json:"previousEventId"`
	At       time.Time       `json:"timestamp"`
	After    time.Duration   `json:"afterNanoseconds"` // time since the execution started
	Type     string          `json:"type"`
	State    string          `json:"state,omitempty"`
	Error    string          `json:"error,omitempty"`
	Cause    Payload         `json:"cause,omitzero"`
	Data     Payload         `json:"data,omitzero"`
	Shape    string          `json:"shape,omitempty"` // the data's structure without its values
	Class    string          `json:"-"`
	JSON     json.RawMessage `json:"-"`
}

// shownEvents is the number of events on a page.
const shownEvents = 100

// maxEvent is the number of bytes of an event that its page shows; it covers the most that an execution can carry.
const maxEvent = 300 << 10
