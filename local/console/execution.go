package console

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"strings"
	"time"

	"stepback/asl"
	"stepback/engine"
	"stepback/engine/durable"
	"stepback/engine/graph"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/timeline"
)

// ExecutionView shows an execution: its current state and why, and what happens next and when.
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
	// Events is the number of events in the history so far.
	Events     int          `json:"events"`
	Retries    int          `json:"retries"`
	Waited     string       `json:"waited,omitempty"`
	Happens    []NowRow     `json:"now"`
	More       int          `json:"moreNow,omitempty"`
	Redrives   []time.Time  `json:"redrives,omitempty"`
	Redrivable string       `json:"notRedrivable,omitempty"` // why it cannot be redriven; empty if it can
	CanRedrive bool         `json:"redrivable"`
	MapRuns    []MapRunLink `json:"mapRuns,omitempty"`
	Parent     string       `json:"mapRunArn,omitempty"`
	FailedAt   *FailedAt    `json:"failedAt,omitempty"`
	Lost       []Lost       `json:"deadLetters,omitempty"`

	// Whole is true if Input is not truncated, so that the execution can be started again with it.
	Whole bool `json:"-"`

	Tab     string      `json:"tab"`
	Bars    *BarsView   `json:"timeline,omitempty"`
	List    *EventsView `json:"eventList,omitempty"`
	Data    *DataView   `json:"data,omitempty"`
	Picture Picture     `json:"-"`
	Now     time.Time   `json:"at"`
}

// FailedAt is the state whose failure made an execution fail.
type FailedAt struct {
	State string `json:"state"`
	// Attempts counts the attempts since the last redrive, and Before those before it.
	Attempts int    `json:"attempts"`
	Before   int    `json:"attemptsBeforeRedrive,omitempty"`
	Event    int64  `json:"eventId"`
	Error    string `json:"error"`
	// Waits are the waits before its retries since the last redrive.
	Waits []time.Duration `json:"-"`
	// Then are the states entered after the failure, if it was caught.
	Then []string `json:"then,omitempty"`
}

// failedAt returns the state whose failure made the execution fail: the innermost one that failed or, if all
// failures were caught, the last one that failed.
func failedAt(t *timeline.Timeline) *FailedAt {
	var found *timeline.Visit
	for _, v := range t.Visits {
		if len(v.Attempts) == 0 || !v.Outcome.Bad() {
			continue
		}
		uncaught := v.Outcome != timeline.Caught
		if found == nil || uncaught && (found.Outcome == timeline.Caught || v.Depth > 0) ||
			!uncaught && found.Outcome == timeline.Caught {
			found = v
		}
	}
	if found == nil {
		return nil
	}
	current, before := found.SinceRedrive()
	f := &FailedAt{State: found.State, Attempts: len(current), Before: before, Error: found.Failure.Name,
		Event: current[len(current)-1].Last}
	for _, w := range found.Waits() {
		if !w.Until.IsZero() && !w.From.Before(current[0].Scheduled) {
			f.Waits = append(f.Waits, w.Until.Sub(w.From))
		}
	}
	if found.Outcome == timeline.Caught {
		for _, v := range t.Visits[found.Number+1:] {
			if v.Depth == found.Depth {
				f.Then = append(f.Then, v.State)
			}
		}
	}
	return f
}

// MapRunLink is a Map Run of an execution.
type MapRunLink struct {
	ARN    string         `json:"mapRunArn"`
	Status history.Status `json:"status"`
	Items  journal.Tally  `json:"items"`
}

// NowRow describes in words what an execution is doing now.
type NowRow struct {
	timeline.Now
	Text string `json:"text"`
}

// Payload is JSON text as it is displayed, truncated if it is long.
type Payload struct {
	Text  string `json:"text"`
	Bytes int    `json:"bytes"`
	Cut   bool   `json:"cut,omitempty"`
	// Says is the message in a cause: the errorMessage of a function, or the whole cause.
	Says string `json:"-"`
}

// IsZero reports whether there is no payload.
func (p Payload) IsZero() bool { return p.Bytes == 0 }

// maxShown is the number of bytes of a payload that a page shows; the event's own page shows all of it.
const maxShown = 2 << 10

// payload prepares a payload for display.
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
	if durable.IsARN(arn) {
		return c.durableExecution(r, arn)
	}
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
	v.Whole = !v.Input.Cut && !c.hidden.any()
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
		v.Retries += visit.Retries()
		for _, w := range visit.Waits() {
			if !w.Until.IsZero() {
				waited += w.Until.Sub(w.From)
			}
		}
	}
	if x.Status != history.Succeeded && x.Ended() {
		v.FailedAt = failedAt(t)
	}
	if waited > 0 {
		v.Waited = timeline.Short(waited)
	}
	topics := []string{arn}
	for _, run := range orZero(r.engine.MapRunsOf(r.Context(), arn)) {
		v.MapRuns = append(v.MapRuns, MapRunLink{run.ARN, run.Status, run.Items})
		topics = append(topics, run.ARN)
	}
	if x.Ended() && len(v.MapRuns) > 0 {
		v.Lost = c.lostBy(r, x.ARN)
	}
	switch v.Tab {
	case "events":
		v.List = c.events(r, events, t)
	case "data":
		v.Data = c.data(r, events, t)
		if !c.hidden.any() {
			v.Data.Again = pretty(x.Input)
		}
	default:
		v.Tab = ""
		v.Bars = bars(r, t, v.MapRuns)
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
	return &answer{Title: x.Name, Template: "execution", View: v, Topics: topics, Still: x.Ended()}, nil
}

// orZero ignores the error of a value that a page can do without.
func orZero[T any](v T, _ error) T { return v }

// machineOf returns the name of an execution's state machine, without the label of a Map.
func machineOf(x *journal.Execution) string {
	name, _, _ := strings.Cut(x.MachineName(), "/")
	return name
}

// messageIn returns the message in a cause.
func messageIn(cause string) string {
	if strings.HasPrefix(cause, "{") {
		var function struct {
			Message string `json:"errorMessage"`
		}
		if err := json.Unmarshal([]byte(cause), &function); err == nil && function.Message != "" {
			return function.Message
		}
	}
	return cause
}

func (c *Console) causeOf(s string) Payload {
	text := c.hidden.cause(s)
	p := Payload{Text: pretty(text), Bytes: len(s), Says: messageIn(text)}
	if len(p.Text) > maxShown {
		p.Text, p.Cut = strings.ToValidUTF8(p.Text[:maxShown], ""), true
	}
	return p
}

// shownNow is the number of lines in the banner.
const shownNow = 5

// happens sets what the execution is doing now, and whether it can be redriven.
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
	if len(rows) > shownNow && r.param("now") != "all" {
		v.More, rows = len(rows)-shownNow, rows[:shownNow]
	}
	for _, n := range rows {
		v.Happens = append(v.Happens, NowRow{n, n.Text(r.now)})
	}
	return nil
}

// BarsView is the timeline, with one row for each visit to a state.
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
	Fold     int           `json:"folded,omitempty"` // the number of nested visits that are not shown
	Open     bool          `json:"open,omitempty"`
	Describe string        `json:"text"`
}

// Bar is an attempt, a wait or time spent in a queue, in thousandths of the axis.
type Bar struct {
	Kind  string  `json:"kind"` // attempt, wait, queue, visit or density
	Class string  `json:"-"`
	X     float64 `json:"x"`
	Width float64 `json:"width"`
	// Level is the number of visits that run at a time, in percent of the maximum; for density bars.
	Level float64 `json:"level,omitempty"`
	Title string  `json:"title"`
}

// Top returns the upper edge of a density bar.
func (b Bar) Top() float64 { return math.Round(14 - 12*b.Level/100) }

// High returns the height of a density bar.
func (b Bar) High() float64 { return 14 - b.Top() }

const (
	shownVisits = 100
	// foldAbove is the number of nested visits above which a Map or Parallel state is drawn as density.
	foldAbove = 40
	strips    = 100
)
