package console

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"stepback/engine"
	"stepback/retrymetrics"
)

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
