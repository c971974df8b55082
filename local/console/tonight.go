package console

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"stepback/dashboards/cloudwatch"
	"stepback/engine"
	"stepback/engine/journal"
)

// enough is the number of executions up to which a page counts, before it shows "1,000+".
const enough = 1000

// Count is a number of executions; More is true if there are more than N.
type Count struct {
	N    int  `json:"n"`
	More bool `json:"more,omitempty"`
}

// String formats the count as 17 or 1,000+.
func (c Count) String() string {
	if c.More {
		return count(c.N) + "+"
	}
	return count(c.N)
}

// apiMachine is a state machine in a ListStateMachines response.
type apiMachine struct {
	ARN     string  `json:"stateMachineArn"`
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Created float64 `json:"creationDate"`
}

// listMachines returns all state machines.
func (c *Console) listMachines(ctx context.Context) ([]apiMachine, error) {
	var all []apiMachine
	in := map[string]any{"maxResults": 1000}
	for {
		var out struct {
			Machines []apiMachine `json:"stateMachines"`
			Next     string       `json:"nextToken"`
		}
		if err := c.cfg.Call(ctx, "states", "ListStateMachines", in, &out); err != nil {
			return nil, err
		}
		all = append(all, out.Machines...)
		if out.Next == "" {
			return all, nil
		}
		in["nextToken"] = out.Next
	}
}

// MachineRow summarises a state machine.
type MachineRow struct {
	Name     string `json:"name"`
	ARN      string `json:"stateMachineArn"`
	Type     string `json:"type"`
	Running  Count  `json:"running"`
	Retrying Count  `json:"retrying"`
	// Failed is the number of executions that ended without success in the last 24 hours, not counting stopped ones.
	Failed Count `json:"failedLastDay"`
	// Children is the number of its Map Runs' child executions that are retrying.
	Children Count     `json:"retryingChildren"`
	LastAt   time.Time `json:"lastStart,omitzero"`
	Last     string    `json:"last,omitempty"`
	Load     Load      `json:"load"`
	groups   map[string]*Group
}

// Group is a group of failures with the same error.
type Group struct {
	Machine string `json:"stateMachine"`
	// Error is the error's name or, if it has none, the status, which Status then repeats.
	Error  string    `json:"error"`
	Status string    `json:"status,omitempty"`
	Count  Count     `json:"count"`
	First  time.Time `json:"firstStart"`
	Last   time.Time `json:"lastStart"`
	Sample string    `json:"sample"` // ARN of the latest one
	// Durable is true if Machine is the name of a durable function.
	Durable bool `json:"durable,omitempty"`
}

// RetryRow is a state that is waiting for its next attempt.
type RetryRow struct {
	Execution string    `json:"executionArn"`
	Machine   string    `json:"stateMachine"`
	State     string    `json:"state"`
	Error     string    `json:"error"`
	Attempt   int64     `json:"attempt"` // number of the next attempt, from 1
	Attempts  int64     `json:"attempts,omitempty"`
	Failed    time.Time `json:"failedAt"`
	Next      time.Time `json:"next"`
	LastBegin time.Time `json:"lastAttemptBegins,omitzero"`
	ID        int64     `json:"pendingId,omitempty"`
	Child     bool      `json:"child,omitempty"`
	// Operation is the ID of the step of a durable function, whose name is Machine, and Type its type. For an
	// invocation that is repeated because the latest one failed, they are the ID of the execution's own operation and
	// EXECUTION.
	// Attempts and LastBegin are then zero: only the function knows when it gives up.
	Operation string `json:"operationId,omitempty"`
	Type      string `json:"type,omitempty"`
}

// MapRunRow is a running Map Run.
type MapRunRow struct {
	ARN       string        `json:"mapRunArn"`
	Items     journal.Tally `json:"items"`
	Started   time.Time     `json:"started"`
	Retrying  Count         `json:"retryingChildren"`
	Execution string        `json:"executionArn"`
}

// TonightView is the first page.
type TonightView struct {
	Machines []*MachineRow `json:"machines"`
	Retrying []RetryRow    `json:"retrying"`
	More     bool          `json:"moreRetrying,omitempty"`
	Failures []*Group      `json:"failures"`
	MapRuns  []MapRunRow   `json:"mapRuns,omitempty"`
	// Deployed are the deployed alarms that are in ALARM. Alarms are stepback's own that fire and that no deployed
	// alarm in ALARM already reports.
	Deployed []cloudwatch.Alarm `json:"deployedAlarms,omitempty"`
	Alarms   []AlarmRow         `json:"alarms,omitempty"`
	Letters  []LetterCount      `json:"deadLetters,omitempty"`
	// Dead is the number of dead letters; DeadMore is true if counting some stores took too long.
	Dead     int64     `json:"deadLetterCount"`
	DeadMore bool      `json:"moreDeadLetters,omitempty"`
	Broken   bool      `json:"broken"`
	Now      time.Time `json:"now"`
}

// Firing returns the number of alarms that the page shows.
func (v *TonightView) Firing() int { return len(v.Deployed) + len(v.Alarms) }

// day is the period over which the first page counts failures.
const day = 24 * time.Hour

// glanceTime limits the time for counting the letters of one store on the first page.
const glanceTime = 40 * time.Millisecond

// shownRetries is the number of retries that the first page lists.
const shownRetries = 12

func (c *Console) tonight(r *request) (*answer, error) {
	v := &TonightView{Now: r.now, Failures: []*Group{}, Retrying: []RetryRow{}}
	machines, err := c.listMachines(r.Context())
	if err != nil {
		return nil, err
	}
	byARN := map[string]*MachineRow{}
	for _, m := range machines {
		row, err := c.glance(r, m)
		if err != nil {
			return nil, err
		}
		byARN[m.ARN] = row
		v.Machines = append(v.Machines, row)
		for _, g := range row.groups {
			v.Failures = append(v.Failures, g)
		}
	}
	if err := c.mapRunsNow(r, v, byARN); err != nil {
		return nil, err
	}
	for l, err := range r.engine.Listed(r.Context(), &engine.Query{Retrying: true, Brief: true}) {
		if err != nil {
			return nil, err
		}
		if v.Retrying = append(v.Retrying, retriesIn(&l)...); len(v.Retrying) >= enough {
			break
		}
	}
	if err := c.durableTonight(r, v); err != nil {
		return nil, err
	}
	slices.SortStableFunc(v.Retrying, func(a, b RetryRow) int { return a.Next.Compare(b.Next) })
	if len(v.Retrying) > shownRetries {
		v.Retrying, v.More = v.Retrying[:shownRetries], true
	}
	slices.SortFunc(v.Failures, func(a, b *Group) int {
		return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.Error, b.Error))
	})
	slices.SortStableFunc(v.Machines, func(a, b *MachineRow) int {
		return cmp.Or(cmp.Compare(b.Retrying.N+b.Children.N, a.Retrying.N+a.Children.N),
			cmp.Compare(b.Failed.N, a.Failed.N),
			cmp.Compare(b.Running.N, a.Running.N), strings.Compare(a.Name, b.Name))
	})
	deployed, err := c.deployed(r.Context(), r.live)
	if err != nil {
		return nil, err
	}
	v.Deployed = inAlarm(deployed)
	names, err := c.retriers(r.Context(), machines)
	if err != nil {
		return nil, err
	}
	v.Alarms = compared(c.charts.firing(names, r.now), deployed)
	v.Letters = c.letterCounts(r.Context(), glanceTime)
	for _, n := range v.Letters {
		v.Dead += max(0, n.Count)
		v.DeadMore = v.DeadMore || n.Many
	}
	v.Broken = v.Dead > 0 || len(v.Alarms) > 0 || len(v.Deployed) > 0 || len(v.Failures) > 0 || len(v.Retrying) > 0
	return &answer{Title: "Tonight", Template: "tonight", View: v, Every: refreshed, All: true}, nil
}

// glance returns the counts of a state machine. They are computed once per tick and shared by all open pages.
func (c *Console) glance(r *request, m apiMachine) (*MachineRow, error) {
	row, err := c.lately.row(m.ARN, r.live, func() (*MachineRow, error) { return c.counts(r, m) })
	if err != nil {
		return nil, err
	}
	own := *row
	return &own, nil
}

func (c *Console) counts(r *request, m apiMachine) (*MachineRow, error) {
	row := &MachineRow{Name: m.Name, ARN: m.ARN, Type: m.Type, groups: map[string]*Group{},
		Load: c.charts.load(m.Name, r.now)}
	ctx := r.Context()
	for l, err := range r.engine.Listed(ctx, &engine.Query{Of: m.ARN, Brief: true}) {
		if err != nil {
			return nil, err
		}
		row.Last, row.LastAt = l.ARN, l.Start
		break
	}
	var err error
	if row.Running, err = counted(ctx, r.engine, engine.Query{Of: m.ARN, Statuses: []engine.Status{engine.Running}},
		nil); err != nil {
		return nil, err
	}
	if row.Retrying, err = counted(ctx, r.engine, engine.Query{Of: m.ARN, Retrying: true}, nil); err != nil {
		return nil, err
	}
	row.Failed, err = counted(ctx, r.engine, engine.Query{Of: m.ARN, Since: r.now.Add(-day),
		Statuses: []engine.Status{engine.Failed, engine.TimedOut}}, func(l *engine.Listed) { row.group(l) })
	if row.Failed.More {
		for _, g := range row.groups {
			g.Count.More = true
		}
	}
	return row, err
}

// group adds a failure to the group of its error.
func (m *MachineRow) group(l *engine.Listed) {
	name := cmp.Or(l.Failure.Name, string(l.Status))
	g := m.groups[name]
	if g == nil {
		g = &Group{Machine: m.Name, Error: name, Status: nameless(l), First: l.Start, Last: l.Start, Sample: l.ARN}
		m.groups[name] = g
	}
	g.Count.N++
	if l.Start.Before(g.First) {
		g.First = l.Start
	}
	if l.Start.After(g.Last) {
		g.Last, g.Sample = l.Start, l.ARN
	}
}

// nameless returns the status of an execution that ended without an error name, and "" for others.
func nameless(l *engine.Listed) string {
	if l.Failure.Name != "" {
		return ""
	}
	return string(l.Status)
}

// largestFirst returns the groups sorted by size, largest first.
func largestFirst(groups map[string]*Group) []*Group {
	all := make([]*Group, 0, len(groups))
	for _, g := range groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.Count.N, a.Count.N), strings.Compare(a.Error, b.Error))
	})
	return all
}

// counted counts executions, up to enough of them. It calls each with a brief description of every execution it
// counts: the fields that the journal's index holds.
func counted(ctx context.Context, e Engine, q engine.Query, each func(*engine.Listed)) (n Count, err error) {
	q.Brief = true
	for l, err := range e.Listed(ctx, &q) {
		if err != nil {
			return n, err
		}
		if n.N == enough {
			n.More = true
			break
		}
		n.N++
		if each != nil {
			each(&l)
		}
	}
	return n, nil
}

// retriesIn returns the pending retries of an execution as rows.
func retriesIn(l *engine.Listed) []RetryRow {
	rows := make([]RetryRow, 0, len(l.Retries))
	for _, t := range l.Retries {
		rows = append(rows, RetryRow{Execution: l.ARN, Machine: l.MachineName(), State: t.State, Error: t.Error,
			Attempt: t.Attempt, Attempts: t.LastAttempt, Failed: t.Failed, Next: t.Next, LastBegin: t.Last(), ID: t.ID,
			Child: l.MapRunARN != ""})
	}
	return rows
}

// mapRunsNow lists the running Map Runs, with the number of their child executions that are retrying.
func (c *Console) mapRunsNow(r *request, v *TonightView, machines map[string]*MachineRow) error {
	for arn, counts := range r.engine.MapRuns() {
		m, err := r.engine.DescribeMapRun(r.Context(), arn)
		if err != nil {
			continue // it has ended in the meantime
		}
		row := MapRunRow{ARN: arn, Items: counts.Items, Started: counts.Started, Execution: m.Execution}
		q := engine.Query{Of: arn, Retrying: true}
		row.Retrying, err = counted(r.Context(), r.engine, q, func(l *engine.Listed) {
			if len(v.Retrying) < enough {
				v.Retrying = append(v.Retrying, retriesIn(l)...)
			}
		})
		if err != nil {
			return err
		}
		label, _, _ := strings.Cut(m.Machine, "/")
		if of := machines[label]; of != nil {
			of.Children.N += row.Retrying.N
			of.Children.More = of.Children.More || row.Retrying.More
		}
		v.MapRuns = append(v.MapRuns, row)
	}
	slices.SortFunc(v.MapRuns, func(a, b MapRunRow) int { return strings.Compare(a.ARN, b.ARN) })
	return nil
}
