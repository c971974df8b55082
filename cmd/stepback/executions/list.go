package executions

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"stepback/asl"
	"stepback/engine/history"
	"stepback/engine/timeline"
)

// Filter selects executions. The zero Filter selects all.
type Filter struct {
	// Machine is the name or ARN of a state machine. MapRun is the ARN of a Map Run whose child executions are
	// listed. With neither, the executions of all state machines are listed except those of EXPRESS ones, which the
	// API does not list.
	Machine, MapRun string
	// Status, if not empty, selects executions with this status.
	Status history.Status
	// Retrying selects running executions that wait for a retry.
	Retrying bool
	// Error selects executions that ended with this error name or wait for a retry because of it.
	Error string
	// Since selects executions that started at or after this time.
	Since time.Time
	// Errors fills in the error of each execution that did not succeed, which the API's lists lack.
	Errors bool
	// Limit is the maximum number listed per state machine; 0 means all.
	Limit int
}

// List yields the executions that a filter selects, newest first for each machine. Where the API has no filter,
// List queries the endpoint's index, if it has one. Otherwise it inspects the histories of running executions and
// the descriptions of failed ones. If it reaches the limit of inspections (Client.Looks), the error is a
// *BoundedError.
func (c *Client) List(ctx context.Context, f Filter, take func(*Execution) error) error {
	asked, err := c.lists(ctx, &f)
	if err != nil {
		return err
	}
	l := &lister{Client: c, f: &f, take: take, left: cmp.Or(c.Looks, looks)}
	for _, in := range asked {
		if err := l.list(ctx, in); err != nil {
			return err
		}
	}
	if l.left < 0 {
		return &BoundedError{cmp.Or(c.Looks, looks)}
	}
	return nil
}

// lister lists executions for one filter.
type lister struct {
	*Client
	f       *Filter
	take    func(*Execution) error
	left    int // inspections left; below 0 there were not enough
	noIndex bool
}

// list yields the selected executions of one list of the API.
func (l *lister) list(ctx context.Context, in map[string]any) error {
	n := 0
	took := func(x *Execution) (bool, error) {
		n++
		return l.f.Limit == 0 || n < l.f.Limit, l.take(x)
	}
	if l.Index != nil && !l.noIndex && (l.f.Retrying || l.f.Error != "") {
		of, _ := in["stateMachineArn"].(string)
		if of == "" {
			of, _ = in["mapRunArn"].(string)
		}
		err := l.Index.list(ctx, of, l.f, took)
		if !errors.Is(err, errNoIndex) {
			return err
		}
		l.noIndex = true
	}
	return l.each(ctx, in, func(x Execution) (bool, error) {
		if x.Start.Before(l.f.Since) {
			return false, nil // they arrive newest first
		}
		ok, err := l.selects(ctx, &x)
		if err != nil || !ok {
			return err == nil && l.left >= 0, err
		}
		return took(&x)
	})
}

// lists returns the inputs of the ListExecutions requests that a filter requires.
func (c *Client) lists(ctx context.Context, f *Filter) ([]map[string]any, error) {
	var of []map[string]any
	switch {
	case f.MapRun != "":
		of = append(of, map[string]any{"mapRunArn": f.MapRun})
	case f.Machine != "":
		arn, err := c.Machine(ctx, f.Machine)
		if err != nil {
			return nil, err
		}
		of = append(of, map[string]any{"stateMachineArn": arn})
	default:
		machines, err := c.Machines(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range machines {
			if m.Type != "EXPRESS" {
				of = append(of, map[string]any{"stateMachineArn": m.ARN})
			}
		}
	}
	status := f.Status
	if f.Retrying {
		status = history.Running
	}
	for _, in := range of {
		if status != "" {
			in["statusFilter"] = status
		}
	}
	return of, nil
}

// each calls take with each execution of one list.
func (c *Client) each(ctx context.Context, in map[string]any, take func(Execution) (bool, error)) error {
	return pages(ctx, c.States, "ListExecutions", in, "executions", take)
}

// selects reports whether an execution matches the filters that the API does not support. It fills in the fields of
// x that it reads for this.
func (l *lister) selects(ctx context.Context, x *Execution) (bool, error) {
	f := l.f
	if !f.Retrying && f.Error == "" {
		return true, l.explain(ctx, x)
	}
	if x.Ended() {
		if f.Retrying || x.Status == history.Succeeded {
			return false, nil
		}
		if l.left--; l.left < 0 {
			return false, nil
		}
		d, err := l.Describe(ctx, x.ARN)
		if err != nil {
			return false, err
		}
		x.Error, x.Cause = d.Error, d.Cause
		return x.Error != nil && *x.Error == f.Error, nil
	}
	if l.left--; l.left < 0 {
		return false, nil
	}
	now, err := l.Now(ctx, x.ARN)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(now, func(n timeline.Now) bool {
		return n.Outcome == timeline.Waiting && n.Failure.HasName() && (f.Error == "" || n.Failure.Name == f.Error)
	})
	if i < 0 {
		return false, nil
	}
	x.Retrying = now[i].Text(time.Now())
	return true, nil
}

// explain fills in the error of an execution that did not succeed, if the filter asks for it, while there are
// inspections left.
func (l *lister) explain(ctx context.Context, x *Execution) error {
	if !l.f.Errors || !x.Ended() || x.Status == history.Succeeded || l.left == 0 {
		return nil
	}
	l.left--
	d, err := l.Describe(ctx, x.ARN)
	if err != nil {
		return err
	}
	x.Error, x.Cause = d.Error, d.Cause
	return nil
}

// Now returns what a running execution is doing or waiting for, from its history and definition.
func (c *Client) Now(ctx context.Context, arn string) ([]timeline.Now, error) {
	events, err := c.History(ctx, arn)
	if err != nil {
		return nil, err
	}
	var m *asl.Machine
	if definition, err := c.DefinitionOf(ctx, arn); err == nil {
		m, _ = asl.Parse(definition)
	}
	return timeline.Read(events).Now(m, nil), nil
}
