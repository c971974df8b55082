package console

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/asl"
	"stepback/engine"
	"stepback/engine/durable"
	"stepback/engine/graph"
	"stepback/engine/history"
)

// MachinesView lists the state machines.
type MachinesView struct {
	Machines []*MachineRow `json:"machines"`
	Now      time.Time     `json:"now"`
}

func (c *Console) machines(r *request) (*answer, error) {
	machines, err := c.listMachines(r.Context())
	if err != nil {
		return nil, err
	}
	v := &MachinesView{Now: r.now, Machines: []*MachineRow{}}
	for _, m := range machines {
		row, err := c.glance(r, m)
		if err != nil {
			return nil, err
		}
		v.Machines = append(v.Machines, row)
	}
	return &answer{Title: "Machines", Template: "machines", View: v}, nil
}

// apiDefinition is a DescribeStateMachine response.
type apiDefinition struct {
	ARN        string  `json:"stateMachineArn"`
	Name       string  `json:"name"`
	Type       string  `json:"type"`
	Definition string  `json:"definition"`
	RoleARN    string  `json:"roleArn"`
	Created    float64 `json:"creationDate"`
	Revision   string  `json:"revisionId"`
}

// described finds a state machine by its name.
func (c *Console) described(ctx context.Context, name string) (*apiDefinition, error) {
	machines, err := c.listMachines(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(machines, func(m apiMachine) bool { return m.Name == name })
	if i < 0 {
		return nil, &notFound{"There is no state machine " + name + "."}
	}
	return c.describe(ctx, machines[i].ARN)
}

func (c *Console) describe(ctx context.Context, arn string) (*apiDefinition, error) {
	d := &apiDefinition{}
	return d, c.cfg.Call(ctx, "states", "DescribeStateMachine", map[string]any{"stateMachineArn": arn}, d)
}

// ExecutionRow is an execution in a list.
type ExecutionRow struct {
	ARN     string         `json:"executionArn"`
	Name    string         `json:"name"`
	Status  history.Status `json:"status"`
	Started time.Time      `json:"startDate"`
	Stopped time.Time      `json:"stopDate,omitzero"`
	Took    time.Duration  `json:"tookNanoseconds"`
	Error   string         `json:"error,omitempty"`
	Redrive int64          `json:"redriveCount,omitempty"`
	Items   int64          `json:"itemCount,omitempty"`
	Retries []RetryRow     `json:"retries,omitempty"`
	// Function is the name of the durable function; empty for a state machine's execution.
	Function string `json:"function,omitempty"`
}

func rowOf(l *engine.Listed, now time.Time) ExecutionRow {
	row := ExecutionRow{ARN: l.ARN, Name: l.Name, Status: l.Status, Started: l.Start, Stopped: l.Stop,
		Error: l.Failure.Name, Redrive: l.RedriveCount, Items: l.Items, Took: now.Sub(l.Start), Retries: retriesIn(l)}
	if l.Ended() {
		row.Took = l.Stop.Sub(l.Start)
	}
	return row
}

// rows returns a page of executions, and the token of the next page.
func (r *request) rows(q engine.Query, size int) (rows []ExecutionRow, next string, err error) {
	list, next, err := r.engine.List(r.Context(), q, size, r.param("after"))
	if err != nil {
		return nil, "", err
	}
	rows = make([]ExecutionRow, len(list))
	for i := range list {
		rows[i] = rowOf(&list[i], r.now)
	}
	return rows, next, nil
}

// Filter is the filter of a list of executions, from the address.
type Filter struct {
	Status   string `json:"status,omitempty"`
	Error    string `json:"error,omitempty"`
	Retrying bool   `json:"retrying,omitempty"`
	Since    string `json:"since,omitempty"`
}

// Set reports whether the filter excludes anything.
func (f Filter) Set() bool { return f != Filter{} }

// query converts the filter to a query for the executions of an ARN.
func (f Filter) query(of string, now time.Time) (engine.Query, error) {
	q := engine.Query{Of: of, Error: f.Error, Retrying: f.Retrying}
	for s := range strings.SplitSeq(strings.ToUpper(f.Status), ",") {
		if s = strings.TrimSpace(s); s != "" {
			q.Statuses = append(q.Statuses, engine.Status(s))
		}
	}
	if f.Since != "" {
		text := f.Since
		factor := time.Duration(1)
		if days, ok := strings.CutSuffix(text, "d"); ok {
			text, factor = days+"h", 24
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return q, &notFound{"since=" + f.Since + " is not a duration: give 30m, 2h or 7d."}
		}
		q.Since = now.Add(-d * factor)
	}
	return q, nil
}

func filterOf(get func(string) string) Filter {
	return Filter{Status: get("status"), Error: get("error"), Retrying: get("retrying") == "true", Since: get("since")}
}

// MachineView is a state machine with its executions.
type MachineView struct {
	*MachineRow
	Filter     Filter         `json:"filter"`
	Executions []ExecutionRow `json:"executions"`
	Next       string         `json:"nextToken,omitempty"`
	Groups     []*Group       `json:"failures"`
	Versions   []Version      `json:"versions,omitempty"`
	Definition string         `json:"definition"`
	Picture    Picture        `json:"-"`
	Now        time.Time      `json:"now"`
	First      bool           `json:"-"`
}

// Version is a published version of a state machine.
type Version struct {
	ARN     string  `json:"stateMachineVersionArn"`
	Created float64 `json:"creationDate"`
}

// At returns when the version was published.
func (v Version) At() time.Time { return time.UnixMilli(int64(v.Created * 1000)) }

// pageSize is the number of executions on a page.
const pageSize = 50

func (c *Console) machine(r *request) (*answer, error) {
	d, err := c.described(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	row, err := c.glance(r, apiMachine{ARN: d.ARN, Name: d.Name, Type: d.Type})
	if err != nil {
		return nil, err
	}
	v := &MachineView{MachineRow: row, Filter: filterOf(r.param), Now: r.now, Definition: d.Definition,
		First: r.param("after") == ""}
	q, err := v.Filter.query(d.ARN, r.now)
	if err != nil {
		return nil, err
	}
	if v.Executions, v.Next, err = r.rows(q, pageSize); err != nil {
		return nil, err
	}
	v.Groups = largestFirst(row.groups)
	if v.Versions, err = c.versions(r.Context(), d.ARN); err != nil {
		return nil, err
	}
	if m, _ := asl.Parse(d.Definition); m != nil {
		v.Picture = pictureOf(graph.New(m, d.Name), graph.Options{Bare: true})
	}
	return &answer{Title: d.Name, Template: "machine", View: v}, nil
}

func (c *Console) versions(ctx context.Context, arn string) ([]Version, error) {
	var out struct {
		Versions []Version `json:"stateMachineVersions"`
	}
	err := c.cfg.Call(ctx, "states", "ListStateMachineVersions", map[string]any{"stateMachineArn": arn,
		"maxResults": 20}, &out)
	return out.Versions, err
}

// find searches for a text: an execution by its ARN or name, and state machines whose names contain it. If no
// execution matches, it returns recent ones whose name contains the text or whose error name it is.
func (c *Console) find(r *request) (*answer, error) {
	text := r.param("q")
	v := &FindView{Query: text, Machines: []string{}, Executions: []ExecutionRow{}}
	if x, err := r.engine.DescribeExecution(r.Context(), text); err == nil && !durable.IsARN(text) {
		v.Executions = append(v.Executions, rowOf(&engine.Listed{Execution: x}, r.now))
	}
	machines, err := c.listMachines(r.Context())
	if err != nil {
		return nil, err
	}
	for _, m := range machines {
		if text != "" && strings.Contains(strings.ToLower(m.Name), strings.ToLower(text)) {
			v.Machines = append(v.Machines, m.Name)
		}
		exact := history.ExecutionARN(m.ARN, text)
		if x, err := r.engine.DescribeExecution(r.Context(), exact); err == nil && text != "" {
			v.Executions = append(v.Executions, rowOf(&engine.Listed{Execution: x}, r.now))
		}
	}
	if len(v.Executions) == 0 && text != "" {
		looked := 0
		for l, err := range r.engine.Listed(r.Context(), &engine.Query{Brief: true}) {
			if looked++; err != nil || looked > searched || len(v.Executions) == pageSize {
				break
			}
			if !strings.Contains(lastOf(l.ARN), text) && l.Failure.Name != text {
				continue
			}
			if x, err := r.engine.DescribeExecution(r.Context(), l.ARN); err == nil {
				v.Executions = append(v.Executions, rowOf(&engine.Listed{Execution: x, Retries: l.Retries}, r.now))
			}
		}
		v.Looked = fmt.Sprintf("Names and errors among the latest %s executions.", count(min(looked, searched)))
	}
	named, err := c.durableNamed(r, text)
	if err != nil {
		return nil, err
	}
	v.Executions = append(v.Executions, named...)
	return &answer{Title: "Find " + text, Template: "find", View: v, Still: true}, nil
}

// searched is the most executions examined for part of a name or an error.
const searched = 20_000

// FindView shows the result of a search.
type FindView struct {
	Query      string         `json:"query"`
	Machines   []string       `json:"machines"`
	Executions []ExecutionRow `json:"executions"`
	Looked     string         `json:"looked,omitempty"`
}
