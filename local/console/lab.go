package console

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/adaptive/analysis"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/retry"
	"stepback/retrypatterns"
)

// LabView compares up to four Retry policies on recorded executions of a state machine or a durable function.
type LabView struct {
	Machine  string   `json:"stateMachine"`
	Machines []string `json:"machines"`
	Since    string   `json:"since"`
	// Executions and Tasks count what was read.
	Executions int         `json:"executions"`
	Tasks      int         `json:"tasks"`
	Attempts   int         `json:"attempts"`
	Policies   []LabPolicy `json:"policies"`
	States     []LabState  `json:"states"`
	Why        string      `json:"why,omitempty"` // why there is nothing to show
	Now        time.Time   `json:"at"`
}

// LabPolicy is one policy from the address: interval, rate, retries, cap and jitter.
type LabPolicy struct {
	Name string `json:"name"`
	Text string `json:"policy"`
	Says string `json:"text"`
	// Error reports what is wrong with the text.
	Error string `json:"error,omitempty"`
	// ASL is the policy as an element of a Retry array.
	ASL string `json:"retry"`
}

// LabState shows the results for a state under each policy.
type LabState struct {
	State    string           `json:"state"`
	Recorded analysis.Outcome `json:"recorded"`
	Cells    []LabCell        `json:"cells"`
}

// LabCell is the result that a policy would have had for a state.
type LabCell struct {
	Level analysis.Level    `json:"level"`
	Low   *analysis.Outcome `json:"low,omitempty"`
	High  *analysis.Outcome `json:"high,omitempty"`
	Note  string            `json:"note,omitempty"`
}

// labPolicies are the policies compared by default.
var labPolicies = [4]string{"0", "1s x2 3", "1s x2 6 max 60s full", "5s x1.5 10 max 2m"}

// studied is the most executions that are read.
const studied = 500

func (c *Console) lab(r *request) (*answer, error) {
	machines, err := c.listMachines(r.Context())
	if err != nil {
		return nil, err
	}
	v := &LabView{Machine: r.param("machine"), Since: r.param("since"), Now: r.now, Machines: []string{},
		States: []LabState{}}
	if v.Machines, err = c.retriers(r.Context(), machines); err != nil {
		return nil, err
	}
	if v.Since == "" {
		v.Since = "7d"
	}
	var parsed [len(labPolicies)]retrypatterns.Retrier
	for i := range labPolicies {
		text := r.param("p" + strconv.Itoa(i+1))
		if text == "" {
			text = labPolicies[i]
		}
		p := LabPolicy{Name: "p" + strconv.Itoa(i+1), Text: text}
		if parsed[i], err = parsePolicy(text); err != nil {
			p.Error = err.Error()
		} else {
			p.Says, p.ASL = parsed[i].Policy().String(), retrierJSON(parsed[i])
		}
		v.Policies = append(v.Policies, p)
	}
	a := &answer{Title: "Lab", Template: "lab", View: v, Still: true}
	if v.Machine == "" {
		if len(v.Machines) > 0 {
			v.Machine = c.worst(v.Machines, r.now)
		} else {
			v.Why = "There are no state machines and durable functions yet."
			return a, nil
		}
	}
	isMachine := slices.ContainsFunc(machines, func(m apiMachine) bool { return m.Name == v.Machine })
	if !isMachine && slices.Contains(v.Machines, v.Machine) {
		collector, steps, err := c.studyDurable(r, v)
		if err != nil {
			return nil, err
		}
		c.compare(v, collector, steps, parsed[:])
		return a, nil
	}
	d, err := c.described(r.Context(), v.Machine)
	if err != nil {
		return nil, err
	}
	rules, err := analysis.RulesOf(d.Definition)
	if err != nil {
		return nil, err
	}
	collector, err := c.study(r, v, d, rules)
	if err != nil {
		return nil, err
	}
	var states []string // that have a Retry array
	for state, retriers := range rules {
		if len(retriers) > 0 {
			states = append(states, state)
		}
	}
	c.compare(v, collector, states, parsed[:])
	return a, nil
}

// worst returns the state machine with the most failed attempts recently, or the first one if none failed.
func (c *Console) worst(machines []string, now time.Time) string {
	return slices.MaxFunc(machines, func(a, b string) int {
		return cmp.Compare(c.charts.load(a, now).Failed, c.charts.load(b, now).Failed)
	})
}

// study reads the histories of a state machine, including those of its Map Runs' child executions.
func (c *Console) study(r *request, v *LabView, d *apiDefinition,
	rules map[string][]retrypatterns.Retrier) (*analysis.Collector, error) {
	q, err := (Filter{Since: v.Since}).query(d.ARN, r.now)
	if err != nil {
		return nil, err
	}
	collector := &analysis.Collector{}
	collector.Rules("now", rules)
	add := func(x *engine.Listed) error {
		events, err := r.engine.History(r.Context(), x.ARN)
		if errors.Is(err, engine.ErrNoExecution) {
			return nil
		}
		if err != nil {
			return err
		}
		v.Executions++
		v.Attempts += attemptsIn(events)
		collector.AddHistory(analysis.Execution{ARN: x.ARN, Rules: "now", MapRun: x.MapRunARN,
			Ended: x.Ended()}, events)
		return nil
	}
	for l, err := range r.engine.Listed(r.Context(), &q) {
		if err != nil {
			return nil, err
		}
		if v.Executions >= studied {
			break
		}
		if err := add(&l); err != nil {
			return nil, err
		}
		runs, err := r.engine.MapRunsOf(r.Context(), l.ARN)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			for child, err := range r.engine.Listed(r.Context(), &engine.Query{Of: run.ARN}) {
				if err != nil {
					return nil, err
				}
				if v.Executions >= studied {
					break
				}
				if err := add(&child); err != nil {
					return nil, err
				}
			}
		}
	}
	return collector, nil
}

// studyDurable reads the histories of a durable function. It returns the names of its steps, too.
func (c *Console) studyDurable(r *request, v *LabView) (*analysis.Collector, []string, error) {
	q, err := c.durableQuery(Filter{Since: v.Since}, v.Machine, r.now)
	if err != nil {
		return nil, nil, err
	}
	var steps []string
	collector := &analysis.Collector{Each: func(t *analysis.Task) {
		if !slices.Contains(steps, t.State) {
			steps = append(steps, t.State)
		}
	}}
	for l, err := range c.cfg.Durable.Listed(r.Context(), &q) {
		if err != nil {
			return nil, nil, err
		}
		if v.Executions >= studied {
			break
		}
		events, err := c.cfg.Durable.History(r.Context(), l.ARN)
		if err != nil {
			return nil, nil, err
		}
		v.Executions++
		v.Attempts += attemptsIn(events)
		collector.AddHistory(analysis.Execution{ARN: l.ARN, Ended: l.Ended()}, events)
	}
	return collector, steps, nil
}

func attemptsIn(events []history.Event) int {
	n := 0
	for i := range events {
		if events[i].Type.Step() == history.StepScheduled {
			n++
		}
	}
	return n
}

// compare replays the record under each policy, which replaces the Retry arrays of states, or the strategies of steps.
func (c *Console) compare(v *LabView, collector *analysis.Collector, replaced []string,
	policies []retrypatterns.Retrier) {
	if v.Executions == 0 {
		v.Why = "No execution of " + v.Machine + " started in the last " + v.Since + "."
		return
	}
	if len(replaced) == 0 {
		v.Why = "No task of these executions has a Retry array."
		return
	}
	states := map[string]*LabState{}
	for i, p := range policies {
		if v.Policies[i].Error != "" {
			continue
		}
		other := map[string][]retrypatterns.Retrier{}
		for _, state := range replaced {
			other[state] = []retrypatterns.Retrier{p}
		}
		w, err := collector.WhatIf(other)
		if err != nil {
			v.Why = err.Error()
			return
		}
		for j := range w.States {
			s := &w.States[j]
			if states[s.State] == nil {
				states[s.State] = &LabState{State: s.State, Recorded: s.Recorded, Cells: make([]LabCell, len(policies))}
				v.Tasks += s.Tasks
			}
			cell := LabCell{Level: s.Level, Low: s.Low, High: s.High}
			if s.Level == analysis.Modelled {
				cell.Note = "no figures: the retries would have added to the overload; stepback retries whatif --scenario fits a simulation"
			} else if s.Unsupported > 0 {
				cell.Note = fmt.Sprintf("%.0f %% of its attempts fall on times without a record", 100*s.Unsupported)
			}
			states[s.State].Cells[i] = cell
		}
	}
	for _, s := range states {
		v.States = append(v.States, *s)
	}
	slices.SortFunc(v.States, func(a, b LabState) int { return strings.Compare(a.State, b.State) })
	if len(v.States) == 0 {
		v.Why = "No task of these executions has a Retry array."
	}
}

// parsePolicy parses a policy such as "1s x2 6 max 60s full": interval, rate, retries, cap, jitter. "0" means no
// retries.
func parsePolicy(text string) (retrypatterns.Retrier, error) {
	p := retrypatterns.Retrier{ErrorEquals: []string{"States.ALL"}, IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 3}
	bad := func(word string) (retrypatterns.Retrier, error) {
		return p, fmt.Errorf("%q: write a policy as 1s x2 6 max 60s full", word)
	}
	words := strings.Fields(strings.ReplaceAll(text, "×", "x"))
	limit := false
	for _, w := range words {
		d, err := time.ParseDuration(w)
		seconds := int(d / time.Second)
		n, noNumber := strconv.Atoi(w)
		rate, isRate := strings.CutPrefix(w, "x")
		switch {
		case w == "max":
			limit = true
		case w == "full":
			p.JitterStrategy = retry.JitterFull
		case isRate:
			f, err := strconv.ParseFloat(rate, 64)
			if err != nil || f < 1 || f > 1000 {
				return bad(w)
			}
			p.BackoffRate = f
		case noNumber == nil && n >= 0 && n <= 1000 && !limit:
			p.MaxAttempts = n
		case err == nil && seconds >= 1 && d <= 365*24*time.Hour && limit:
			p.MaxDelaySeconds, limit = seconds, false
		case err == nil && seconds >= 1 && d <= 365*24*time.Hour:
			p.IntervalSeconds = seconds
		default:
			return bad(w)
		}
	}
	if len(words) == 0 || limit {
		return bad(text)
	}
	if p.MaxAttempts == 0 {
		p.IntervalSeconds, p.BackoffRate, p.MaxDelaySeconds, p.JitterStrategy = 0, 0, 0, ""
	}
	return p, nil
}
