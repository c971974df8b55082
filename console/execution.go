package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/asl"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/graph"
	"stepback/timeline"
)

// ExecutionView is an execution: where it is, why, what happens next and when.
type ExecutionView struct {
	ARN     string         `json:"executionArn"`
	Name    string         `json:"name"`
	Machine string         `json:"stateMachine"`
	Status  history.Status `json:"status"`
	Started time.Time      `json:"startDate"`
	Stopped time.Time      `json:"stopDate,omitzero"`
	Took    time.Duration  `json:"tookNanoseconds"`
	Error   string         `json:"error,omitempty"`
	Cause   Payload        `json:"cause,omitzero"`
	Input   Payload        `json:"input"`
	Output  Payload        `json:"output,omitzero"`
	// Events counts those of the history so far.
	Events     int          `json:"events"`
	Retries    int          `json:"retries"`
	Waited     string       `json:"waited,omitempty"`
	Happens    []NowRow     `json:"now"`
	More       int          `json:"moreNow,omitempty"`
	Redrives   []time.Time  `json:"redrives,omitempty"`
	Redrivable string       `json:"notRedrivable,omitempty"` // why it is not; empty when it is
	CanRedrive bool         `json:"redrivable"`
	MapRuns    []MapRunLink `json:"mapRuns,omitempty"`
	Parent     string       `json:"mapRunArn,omitempty"`
	FailedAt   *FailedAt    `json:"failedAt,omitempty"`

	Tab     string      `json:"tab"`
	Bars    *BarsView   `json:"timeline,omitempty"`
	List    *EventsView `json:"eventList,omitempty"`
	Picture Picture     `json:"-"`
	Now     time.Time   `json:"at"`
}

// FailedAt is the state at which an execution failed.
type FailedAt struct {
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	Event    int64  `json:"eventId"`
}

// MapRunLink is a Map Run of an execution.
type MapRunLink struct {
	ARN    string         `json:"mapRunArn"`
	Status history.Status `json:"status"`
	Items  journal.Tally  `json:"items"`
}

// NowRow is what an execution does now, in words.
type NowRow struct {
	timeline.Now
	Text string `json:"text"`
}

// Payload is JSON text as it is shown: cut when it is long.
type Payload struct {
	Text  string `json:"text"`
	Bytes int    `json:"bytes"`
	Cut   bool   `json:"cut,omitempty"`
}

// IsZero reports whether there is none.
func (p Payload) IsZero() bool { return p.Bytes == 0 }

// maxShown is how much of a payload a page shows; the event's own page has all of it.
const maxShown = 2 << 10

// payload prepares a payload for a page.
func (c *Console) payload(s string, most int) Payload {
	p := Payload{Text: pretty(c.hidden.text(s)), Bytes: len(s)}
	if len(p.Text) > most {
		p.Text, p.Cut = strings.ToValidUTF8(p.Text[:most], ""), true
	}
	return p
}

// pretty indents JSON.
func pretty(s string) string {
	if len(s) > 0 && (s[0] == '{' || s[0] == '[') {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(json.RawMessage(s)); err == nil {
			return strings.TrimSuffix(b.String(), "\n")
		}
	}
	return s
}

func (c *Console) execution(r *request) (*answer, error) {
	arn := r.PathValue("arn")
	x, err := r.engine.DescribeExecution(r.Context(), arn)
	if err != nil {
		return nil, err
	}
	events, err := r.engine.History(r.Context(), arn)
	if err != nil && (!x.Express || !errors.Is(err, engine.ErrNoExecution)) {
		return nil, err
	}
	t := timeline.Read(events)
	v := &ExecutionView{ARN: x.ARN, Name: x.Name, Machine: machineOf(x), Status: x.Status, Started: x.Start,
		Stopped: x.Stop, Error: x.Failure.Name, Cause: c.causeOf(x.Failure.Cause), Input: c.payload(x.Input, maxShown),
		Output: c.payload(x.Output, maxShown), Events: len(events), Redrives: t.Redrives, Parent: x.MapRunARN,
		Took: r.now.Sub(x.Start), Now: r.now, Tab: r.param("tab"), Happens: []NowRow{}}
	if x.Ended() {
		v.Took = x.Stop.Sub(x.Start)
	}
	var m *asl.Machine
	if d, err := c.cfg.Definition(r.Context(), x); err == nil {
		m, _ = asl.Parse(d.Text)
	}
	if err := c.happens(r, v, x, t, m); err != nil {
		return nil, err
	}
	var waited time.Duration
	for _, visit := range t.Visits {
		for _, w := range visit.Waits() {
			v.Retries++
			if !w.Until.IsZero() {
				waited += w.Until.Sub(w.From)
			}
		}
		if x.Status != history.Succeeded && x.Ended() && visit.Outcome == timeline.Failed && len(visit.Attempts) > 0 &&
			(v.FailedAt == nil || visit.Depth > 0) {
			v.FailedAt = &FailedAt{visit.State, len(visit.Attempts), visit.Attempts[len(visit.Attempts)-1].Last}
		}
	}
	if waited > 0 {
		v.Waited = timeline.Short(waited)
	}
	for _, run := range must(r.engine.MapRunsOf(r.Context(), arn)) {
		v.MapRuns = append(v.MapRuns, MapRunLink{run.ARN, run.Status, run.Items})
	}
	switch v.Tab {
	case "events":
		v.List = c.events(r, events, t)
	case "data", "case":
	default:
		v.Tab = ""
		v.Bars = bars(r, t)
		if m != nil {
			if x.MapRunARN != "" && len(t.Visits) > 0 {
				m = graph.Part(m, t.Visits[0].State)
			}
			v.Picture = pictureOf(graph.New(m, x.Name), graph.Options{Bare: true, Marks: graph.MarksOf(t),
				Link: func(state string) string {
					return executionURL(arn) + "?state=" + url.QueryEscape(state) + "#timeline"
				}})
		}
	}
	if r.param("format") == "test" {
		return c.testCase(r, x, events)
	}
	return &answer{Title: x.Name, Template: "execution", View: v, Topic: arn, Still: x.Ended()}, nil
}

// must drops an error of what a page can do without.
func must[T any](v T, _ error) T { return v }

// machineOf is the name of an execution's machine, without the label of a Map.
func machineOf(x *journal.Execution) string {
	name, _, _ := strings.Cut(x.MachineName(), "/")
	return name
}

func (c *Console) causeOf(s string) Payload {
	p := Payload{Text: pretty(c.hidden.cause(s)), Bytes: len(s)}
	if len(p.Text) > maxShown {
		p.Text, p.Cut = strings.ToValidUTF8(p.Text[:maxShown], ""), true
	}
	return p
}

// shownNow is how many lines the banner has.
const shownNow = 5

// happens fills in what the execution does now, and whether it can be redriven.
func (c *Console) happens(r *request, v *ExecutionView, x *journal.Execution, t *timeline.Timeline,
	m *asl.Machine) error {
	if x.Ended() {
		if err := r.engine.Redrivable(x); err != nil {
			v.Redrivable = err.Error()
		} else {
			v.CanRedrive = true
		}
		return nil
	}
	pending, err := r.engine.Pending(r.Context(), x.ARN)
	if err != nil {
		return err
	}
	rows := t.Now(m, pending)
	if len(rows) > shownNow {
		v.More, rows = len(rows)-shownNow, rows[:shownNow]
	}
	for _, n := range rows {
		v.Happens = append(v.Happens, NowRow{n, n.Text(r.now)})
	}
	return nil
}

// BarsView is the timeline: a row for each visit of a state.
type BarsView struct {
	Rows  []BarRow `json:"rows"`
	Total int      `json:"total"`
	From  int      `json:"from"`
	State string   `json:"state,omitempty"`
	// Begin and End are the ends of the axis.
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
	Next  int       `json:"next,omitempty"`
	Prev  int       `json:"prev"`
	Hid   int       `json:"hidden,omitempty"`
}

// BarRow is a visit with its bars.
type BarRow struct {
	*timeline.Visit
	Took     time.Duration `json:"tookNanoseconds"`
	Retries  int           `json:"retries"`
	Bars     []Bar         `json:"bars"`
	Fold     int           `json:"folded,omitempty"` // how many visits inside of it are not shown
	Open     bool          `json:"open,omitempty"`
	Describe string        `json:"text"`
}

// Bar is an attempt, a wait or a time in a queue, in thousandths of the axis.
type Bar struct {
	Kind  string  `json:"kind"` // attempt, wait, queue, visit or density
	Class string  `json:"-"`
	X     float64 `json:"x"`
	Width float64 `json:"width"`
	// Level is how many run at a time, in percent of the most; for density.
	Level float64 `json:"level,omitempty"`
	Title string  `json:"title"`
}

// Top is where a bar of density begins.
func (b Bar) Top() float64 { return math.Round(14 - 12*b.Level/100) }

// High is how high a bar of density is.
func (b Bar) High() float64 { return 14 - b.Top() }

const (
	shownVisits = 100
	// foldAbove is from how many visits inside of it on a Map or Parallel state is drawn by its density.
	foldAbove = 40
	strips    = 100
)

// bars draws the timeline, or a page of it.
func bars(r *request, t *timeline.Timeline) *BarsView {
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
		row.Describe = describe(visit)
		v.Rows = append(v.Rows, row)
	}
	return v
}

// describe says a visit in words, for the table.
func describe(v *timeline.Visit) string {
	switch {
	case len(v.Attempts) > 1:
		return fmt.Sprintf("%s, %d attempts", v.Outcome, len(v.Attempts))
	case v.Items > 0:
		return fmt.Sprintf("%s, %d of %d items", v.Outcome, v.Done+v.Broken, v.Items)
	}
	return string(v.Outcome)
}

// bar is a span on the axis.
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

// attempts are the bars of a visit: each attempt and each wait for itself.
func (v *BarsView) attempts(visit *timeline.Visit) []Bar {
	var out []Bar
	if len(visit.Attempts) == 0 {
		class := strings.ReplaceAll(string(visit.Outcome), " ", "-")
		if visit.Type == "Wait" {
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
	// What is short lies on top of what is long.
	slices.SortStableFunc(out, func(a, b Bar) int { return cmp.Compare(btoi(a.Kind == "attempt"), btoi(b.Kind == "attempt")) })
	return out
}

// density draws how many of the visits inside of a state run at a time.
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

// EventsView is a page of the events.
type EventsView struct {
	Rows  []EventRow `json:"rows"`
	From  int64      `json:"from"`
	Next  int64      `json:"next,omitempty"`
	Prev  int64      `json:"prev,omitempty"`
	Total int        `json:"total"`
	One   *EventRow  `json:"event,omitempty"`
	Bad   bool       `json:"failuresOnly,omitempty"`
}

// EventRow is an event.
type EventRow struct {
	ID       int64           `json:"id"`
	Previous int64           `json:"previousEventId"`
	At       time.Time       `json:"timestamp"`
	After    time.Duration   `json:"afterNanoseconds"` // the beginning
	Type     string          `json:"type"`
	State    string          `json:"state,omitempty"`
	Error    string          `json:"error,omitempty"`
	Cause    Payload         `json:"cause,omitzero"`
	Data     Payload         `json:"data,omitzero"`
	Class    string          `json:"-"`
	JSON     json.RawMessage `json:"-"`
}

// shownEvents is how many events a page has.
const shownEvents = 100

// maxEvent is how much of one event its page shows: all of what an execution may carry.
const maxEvent = 300 << 10

func (c *Console) events(r *request, events []history.Event, t *timeline.Timeline) *EventsView {
	v := &EventsView{Total: len(events), From: max(1, r.number("from", 1)), Bad: r.param("failed") == "true",
		Rows: []EventRow{}}
	if id := r.number("e", 0); id > 0 && id <= int64(len(events)) {
		one := c.event(&events[id-1], events[0].Time, t, maxEvent)
		v.One = &one
		if r.param("from") == "" {
			v.From = (id-1)/shownEvents*shownEvents + 1
		}
	}
	v.Prev = max(1, v.From-shownEvents)
	if v.From == 1 {
		v.Prev = 0
	}
	const brief = 160
	for i := v.From - 1; i < int64(len(events)); i++ {
		e := &events[i]
		if v.Bad && (e.More == nil || e.More.Failure.IsZero()) {
			continue
		}
		if len(v.Rows) == shownEvents {
			v.Next = e.ID
			break
		}
		row := c.event(e, events[0].Time, t, brief)
		row.Data.Text = strings.Join(strings.Fields(row.Data.Text), " ")
		v.Rows = append(v.Rows, row)
	}
	return v
}

func (c *Console) event(e *history.Event, begin int64, t *timeline.Timeline, most int) EventRow {
	row := EventRow{ID: e.ID, Previous: e.Previous, At: e.At(), After: time.Duration(e.Time - begin),
		Type: e.Type.String(), State: e.Name, Data: c.payload(e.Data, most)}
	if v := t.Of(e.ID); v != nil {
		row.State = v.State
	}
	if e.More != nil && !e.More.Failure.IsZero() {
		row.Error, row.Cause = e.More.Failure.Name, c.causeOf(e.More.Failure.Cause)
		row.Class = "failed"
	}
	return row
}
