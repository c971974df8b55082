package console

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/alarms"
	"stepback/dashboards"
	"stepback/dashboards/render"
	"stepback/engine"
	"stepback/retrymetrics"
)

// charts caches the metric data for a moment, because many pages ask for them.
type charts struct {
	points   func() ([]retrymetrics.Point, error)
	complete func() // waits until points are complete; nil means that they are

	mu    sync.Mutex
	kept  map[string][]retrymetrics.Point // by state machine
	stood map[string][]AlarmRow           // the alarms evaluated from these data, by state machine
	until time.Time                       // when the cached data expire
	err   error
}

// Metric data are cached for the duration fresh, or for worthTimes the duration of reading them if that is longer.
const (
	fresh      = 5 * time.Second
	worthTimes = 100
)

// of returns the metric data of a state machine.
func (c *charts) of(machine string) ([]retrymetrics.Point, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.points == nil {
		return nil, nil
	}
	if c.complete != nil {
		c.complete()
	}
	if began := time.Now(); began.After(c.until) {
		var all []retrymetrics.Point
		all, c.err = c.points()
		c.kept = map[string][]retrymetrics.Point{}
		for i := range all {
			c.kept[all[i].Labels.StateMachine] = append(c.kept[all[i].Labels.StateMachine], all[i])
		}
		c.stood = map[string][]AlarmRow{}
		c.until = time.Now().Add(max(fresh, worthTimes*time.Since(began)))
	}
	return c.kept[machine], c.err
}

// Load shows how much work retries add: attempts, and how many of them failed and were retried, over the last hours.
type Load struct {
	Attempts int64 `json:"attempts"`
	Failed   int64 `json:"failed"`
	Retried  int64 `json:"retried"`
	// Bars are the shares of attempts that failed, in percent, by time.
	Bars []LoadBar `json:"bars,omitempty"`
}

// LoadBar is one interval of time.
type LoadBar struct {
	Attempts int64   `json:"attempts"`
	Failed   int64   `json:"failed"`
	X        float64 `json:"-"`
	High     float64 `json:"-"`
	Top      float64 `json:"-"`
	BadHigh  float64 `json:"-"`
	BadTop   float64 `json:"-"`
}

// Text returns the load in words.
func (l Load) Text() string {
	if l.Attempts == 0 {
		return "no attempts in the last 3 h"
	}
	return fmt.Sprintf("%s %s in the last 3 h, %s failed, %s retried", count(l.Attempts), noun(l.Attempts, "attempt"), count(l.Failed), count(l.Retried))
}

const (
	loadHours = 3 * time.Hour
	loadParts = 36
	loadHigh  = 16.0
)

// load adds up the attempts of a state machine.
func (c *charts) load(machine string, now time.Time) Load {
	var l Load
	points, err := c.of(machine)
	if err != nil || len(points) == 0 {
		return l
	}
	begin := now.Add(-loadHours)
	var parts [loadParts]LoadBar
	for i := range points {
		p := &points[i]
		if p.Start.Before(begin) || len(p.Values) == 0 {
			continue // each attempt is counted in one point only: that of its state and, if it failed, its error
		}
		at := &parts[max(0, min(loadParts-1, int(loadParts*float64(p.Start.Sub(begin))/float64(loadHours))))]
		switch n := int64(math.Round(p.Values[0])); p.Metric {
		case retrymetrics.TaskAttempts:
			l.Attempts += n
			at.Attempts += n
		case retrymetrics.TaskFailures:
			l.Failed += n
			at.Failed += n
		case retrymetrics.RetryAttempts:
			l.Retried += n
		}
	}
	if l.Attempts == 0 {
		return Load{}
	}
	most := int64(1)
	for i := range parts {
		most = max(most, parts[i].Attempts)
	}
	for i := range parts {
		b := &parts[i]
		b.X = float64(i) * 4
		if b.Attempts > 0 {
			b.High = max(1.5, loadHigh*float64(b.Attempts)/float64(most))
		}
		if b.Failed > 0 {
			b.BadHigh = min(loadHigh, max(1.5, loadHigh*float64(b.Failed)/float64(most)))
		}
		b.Top, b.BadTop = loadHigh-b.High, loadHigh-b.BadHigh
	}
	l.Bars = parts[:]
	return l
}

// AlarmRow is an alarm of a state machine and its state according to the metric data.
type AlarmRow struct {
	Machine string    `json:"stateMachine"`
	Name    string    `json:"name"`
	State   string    `json:"state"`
	Since   time.Time `json:"since,omitzero"`
	Meaning string    `json:"meaning"`
	First   string    `json:"first"` // the first thing to do if it fires
	Watches string    `json:"watches"`
	// Changes are the times at which the alarm entered and left ALARM.
	Changes []alarms.Change `json:"changes,omitempty"`
	// Data are the values of its latest evaluation.
	Data []retrymetrics.Datapoint `json:"data,omitempty"`
	// Deployed is a deployed alarm that watches the same metrics, if there is one, with its state.
	Deployed      string   `json:"deployedAlarm,omitempty"`
	DeployedState string   `json:"deployedState,omitempty"`
	metrics       []string // names of the metrics that it watches
}

// alarms evaluates the alarms of a state machine.
func (c *charts) alarms(machine string, now time.Time) ([]AlarmRow, error) {
	points, err := c.of(machine)
	if err != nil || len(points) == 0 {
		return nil, err
	}
	c.mu.Lock()
	stood, ok := c.stood[machine]
	c.mu.Unlock()
	if ok {
		return stood, nil
	}
	set, err := alarms.New(alarms.Options{StateMachine: machine, General: !retrymetrics.OfImport(machine, points)})
	if err != nil {
		return nil, err
	}
	var rows []AlarmRow
	for _, a := range set.Alarms {
		changes, err := set.Evaluate(a, points)
		if err != nil {
			continue // the alarm needs data that only CloudWatch has
		}
		row := AlarmRow{Machine: machine, Name: a.Name, State: string(alarms.OK), Meaning: a.Meaning, First: a.First,
			Watches: watches(a), metrics: metricsOf(a)}
		changes = begun(changes, a.Period, now)
		row.Changes = changes
		if n := len(changes); n > 0 {
			row.State, row.Since = string(changes[n-1].State), changes[n-1].At
			if row.State == string(alarms.Alarming) {
				row.Since = changes[n-1].Since
			}
		}
		if a.Series != nil {
			row.Data, _ = retrymetrics.Statistic(points, *a.Series, a.Stat, a.Period)
			if n := len(row.Data); n > shownValues {
				row.Data = row.Data[n-shownValues:]
			}
		}
		// An alarm whose failures ended long ago no longer fires, even if no newer data say so.
		if row.State == string(alarms.Alarming) && now.Sub(row.Since) > loadHours &&
			now.Sub(newest(points)) > loadHours {
			row.State = string(alarms.OK)
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b AlarmRow) int {
		return cmp.Compare(btoi(b.State == string(alarms.Alarming)), btoi(a.State == string(alarms.Alarming)))
	})
	c.mu.Lock()
	c.stood[machine] = rows
	c.mu.Unlock()
	return rows, nil
}

// begun returns the state changes up to now. An evaluation is dated at the end of its last period, which may be in
// the future: an alarm that fires in that period fires now, and is dated at its first breaching datapoint. One that
// recovers at the period's end has not recovered yet.
func begun(all []alarms.Change, period time.Duration, now time.Time) []alarms.Change {
	for i, c := range all {
		if !c.At.After(now) {
			continue
		}
		if c.State == alarms.Alarming && c.At.Sub(now) <= period {
			c.At = c.Since
			return append(slices.Clone(all[:i]), c)
		}
		return all[:i]
	}
	return all
}

// shownValues is the number of an alarm's values that are shown.
const shownValues = 10

func newest(points []retrymetrics.Point) (t time.Time) {
	for i := range points {
		if points[i].Start.After(t) {
			t = points[i].Start
		}
	}
	return t
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// metricsOf returns the names of the metrics that an alarm evaluates.
func metricsOf(a alarms.Alarm) []string {
	if a.Series != nil {
		return []string{a.Series.Metric.Name()}
	}
	var names []string
	if a.Rate != nil {
		for _, t := range a.Rate.Terms {
			names = append(names, t.Metric.Name())
		}
	}
	return names
}

// watches describes the metric that an alarm evaluates.
func watches(a alarms.Alarm) string {
	what := ""
	switch {
	case a.Series != nil:
		what = string(a.Stat) + " of " + a.Series.Metric.Name()
	case a.Rate != nil:
		what = a.Rate.Name
	}
	words := map[alarms.Comparison]string{alarms.GreaterThanThreshold: ">",
		alarms.GreaterThanOrEqualToThreshold: "≥", alarms.LessThanThreshold: "<"}
	return fmt.Sprintf("%s %s %g, %d of %d periods of %s", what, words[a.Comparison], a.Threshold, a.Breaching, a.Periods,
		strings.TrimSuffix(a.Period.String(), "0s"))
}

// firing returns the alarms of all state machines that are in ALARM.
func (c *charts) firing(names []string, now time.Time) []AlarmRow {
	var firing []AlarmRow
	for _, name := range names {
		rows, err := c.alarms(name, now)
		if err != nil {
			continue
		}
		for _, a := range rows {
			if a.State == string(alarms.Alarming) {
				firing = append(firing, a)
			}
		}
	}
	return firing
}

// RetriesView compares what retries cost in each state machine.
type RetriesView struct {
	Machines []LoadRow  `json:"machines"`
	Alarms   []AlarmRow `json:"alarms"`
	// Holds are the retries that stepback hold keeps from beginning, and Limits the limits of stepback limit.
	Holds  []engine.Held         `json:"holds,omitempty"`
	Limits []engine.LimitedCalls `json:"limits,omitempty"`
	Now    time.Time             `json:"at"`
	// Acts is true if retries can be held and calls limited here.
	Acts  bool   `json:"acts,omitempty"`
	Token string `json:"-"`
}

// LoadRow is a state machine with its load.
type LoadRow struct {
	Name string `json:"name"`
	Load Load   `json:"load"`
}

// retriers returns the names under which retries are counted: those of the state machines, and those of the durable
// functions.
func (c *Console) retriers(ctx context.Context, machines []apiMachine) ([]string, error) {
	names := make([]string, 0, len(machines))
	for _, m := range machines {
		names = append(names, m.Name)
	}
	if c.cfg.Durable == nil {
		return names, nil
	}
	functions, err := c.durableFunctions(ctx)
	for _, name := range functions {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, err
}

func (c *Console) retries(r *request) (*answer, error) {
	machines, err := c.listMachines(r.Context())
	if err != nil {
		return nil, err
	}
	e, err := c.cfg.Engine()
	if err != nil {
		return nil, err
	}
	v := &RetriesView{Now: r.now, Alarms: []AlarmRow{}, Acts: c.cfg.Pacing != nil && !c.cfg.ReadOnly, Token: c.token}
	if c.cfg.Pacing == nil {
		v.Holds, v.Limits = e.Holds(), e.CallLimits()
	} else if v.Holds, v.Limits, err = c.cfg.Pacing.Pacing(); err != nil {
		return nil, err
	}
	names, err := c.retriers(r.Context(), machines)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		v.Machines = append(v.Machines, LoadRow{name, c.charts.load(name, r.now)})
	}
	slices.SortStableFunc(v.Machines, func(a, b LoadRow) int { return cmp.Compare(b.Load.Retried, a.Load.Retried) })
	deployed, err := c.deployed(r.Context(), r.live)
	if err != nil {
		return nil, err
	}
	v.Alarms = append(v.Alarms, compared(c.charts.firing(names, r.now), deployed)...)
	return &answer{Title: "Retries", Template: "retries", View: v}, nil
}

// RetriesOfView shows the retries of one state machine by state and error, its alarms and its dashboard.
type RetriesOfView struct {
	Name   string    `json:"name"`
	Waits  []WaitOf  `json:"byState"`
	States []RetryOf `json:"states"`
	// Other is true if errors are included that have no metric name of their own.
	Other  bool       `json:"-"`
	Alarms []AlarmRow `json:"alarms"`
	Load   Load       `json:"load"`
	Data   bool       `json:"data"`
	Now    time.Time  `json:"at"`
}

// RetryOf counts the results of retries for one state and error.
type RetryOf struct {
	State     string `json:"state"`
	Error     string `json:"error"`
	Failed    int64  `json:"failed"`
	Retried   int64  `json:"retried"`
	Recovered int64  `json:"recovered"` // tasks that succeeded after this error
	GivenUp   int64  `json:"givenUp"`   // tasks that finally failed with this error, with or without retries
}

// WaitOf counts the attempts of one state, and how long its retries waited.
type WaitOf struct {
	State    string  `json:"state"`
	Attempts int64   `json:"attempts"`
	Failed   int64   `json:"failed"`
	Retried  int64   `json:"retried"`
	Waited   float64 `json:"waitedSeconds"`
}

// WaitedText returns how long the retries waited in total.
func (w WaitOf) WaitedText() time.Duration { return time.Duration(w.Waited * float64(time.Second)) }

func (c *Console) retriesOf(r *request) (*answer, error) {
	name := r.PathValue("name")
	points, err := c.charts.of(name)
	if err != nil {
		return nil, err
	}
	v := &RetriesOfView{Name: name, Now: r.now, Load: c.charts.load(name, r.now), Data: len(points) > 0,
		States: []RetryOf{}, Waits: []WaitOf{}, Alarms: []AlarmRow{}}
	by, waits := map[[2]string]*RetryOf{}, map[string]*WaitOf{}
	for i := range points {
		p := &points[i]
		if p.Labels.State == "" || len(p.Values) == 0 {
			continue
		}
		if waits[p.Labels.State] == nil {
			waits[p.Labels.State] = &WaitOf{State: p.Labels.State}
		}
		waits[p.Labels.State].add(p)
		if p.Labels.ErrorType == "" {
			continue
		}
		v.Other = v.Other || p.Labels.ErrorType == retrymetrics.OtherError
		key := [2]string{p.Labels.State, p.Labels.ErrorType}
		if by[key] == nil {
			by[key] = &RetryOf{State: key[0], Error: key[1]}
		}
		n := int64(math.Round(p.Values[0]))
		switch p.Metric {
		case retrymetrics.TaskFailures:
			by[key].Failed += n
		case retrymetrics.RetryAttempts:
			by[key].Retried += n
		case retrymetrics.RetrySuccess:
			by[key].Recovered += n
		case retrymetrics.RetryFailure:
			by[key].GivenUp += n
		}
	}
	for _, one := range waits {
		if one.Attempts > 0 {
			v.Waits = append(v.Waits, *one)
		}
	}
	slices.SortFunc(v.Waits, func(a, b WaitOf) int {
		return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(b.Failed, a.Failed),
			strings.Compare(a.State, b.State))
	})
	for _, one := range by {
		v.States = append(v.States, *one)
	}
	slices.SortFunc(v.States, func(a, b RetryOf) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), strings.Compare(a.State, b.State),
			strings.Compare(a.Error, b.Error))
	})
	if v.Alarms, err = c.charts.alarms(name, r.now); err != nil {
		return nil, err
	}
	return &answer{Title: "Retries of " + name, Template: "retriesof", View: v}, nil
}

// add adds the data of a point.
func (w *WaitOf) add(p *retrymetrics.Point) {
	n := int64(math.Round(p.Values[0]))
	switch p.Metric {
	case retrymetrics.TaskAttempts:
		w.Attempts += n
	case retrymetrics.TaskFailures:
		w.Failed += n
	case retrymetrics.RetryAttempts:
		w.Retried += n
	case retrymetrics.RetryDelay:
		for j, value := range p.Values {
			w.Waited += value * float64(p.Counts[j])
		}
	}
}

// chart serves the dashboard of a state machine as SVG.
func (c *Console) chart(w http.ResponseWriter, r *http.Request) {
	machine := strings.TrimSuffix(r.PathValue("name"), ".svg")
	points, err := c.charts.of(machine)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	d, err := dashboards.Monitor(dashboards.Options{StateMachine: machine, Region: c.cfg.Scope.Region,
		General: !retrymetrics.OfImport(machine, points)})
	if err != nil {
		c.failed(w, r, err)
		return
	}
	body, err := d.Body()
	if err != nil {
		c.failed(w, r, err)
		return
	}
	var out bytes.Buffer
	data := render.Points(points)
	page, err := render.Load(r.Context(), machine, body, data, data.Window())
	if err != nil {
		c.failed(w, r, err)
		return
	}
	page.WithData = true
	if err := page.SVG(&out); err != nil {
		c.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	// The picture contains its own style sheet and loads nothing.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	send(w, r, out.Bytes())
}
