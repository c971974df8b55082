package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/adaptive/controller/decide"
)

// StepFunctions is the part of the Step Functions client that the controller uses.
type StepFunctions interface {
	DescribeStateMachine(context.Context, *sfn.DescribeStateMachineInput,
		...func(*sfn.Options)) (*sfn.DescribeStateMachineOutput, error)
	UpdateStateMachine(context.Context, *sfn.UpdateStateMachineInput,
		...func(*sfn.Options)) (*sfn.UpdateStateMachineOutput, error)
	ListExecutions(context.Context, *sfn.ListExecutionsInput, ...func(*sfn.Options)) (*sfn.ListExecutionsOutput, error)
	ListMapRuns(context.Context, *sfn.ListMapRunsInput, ...func(*sfn.Options)) (*sfn.ListMapRunsOutput, error)
	DescribeMapRun(context.Context, *sfn.DescribeMapRunInput, ...func(*sfn.Options)) (*sfn.DescribeMapRunOutput, error)
	UpdateMapRun(context.Context, *sfn.UpdateMapRunInput, ...func(*sfn.Options)) (*sfn.UpdateMapRunOutput, error)
}

// Controller adapts one state machine. Set its fields before use.
type Controller struct {
	// Machine is the state machine's ARN.
	Machine string
	StepFunctions
	// Alias is the ARN of the alias through which executions are started; empty if they are started by Machine. The
	// controller publishes a changed definition as a version and points the alias at it. If a deployment has
	// published a version, that version becomes the new base. Alias requires Aliases.
	Alias   string
	Aliases Aliases
	// Versions deletes old versions of the state machine after a change, if no alias and no running execution uses
	// them; nil keeps all. Step Functions refuses changes when there are 1,000.
	Versions Versions
	Metrics  Metrics
	Rows     Rows
	// Events calls the service "eventbridge", whose default bus receives an event for each change; nil sends none.
	Events Caller
	// Parameters are the parameters of the rules.
	Parameters decide.Parameters
	// Capacity is the number of calls that the callee can serve per second. If it is 0, the controller measures it.
	Capacity float64
	// ConcurrencyLimit is the maximum number of concurrent calls of a function, 0 if unknown; the source's load
	// factor uses it.
	ConcurrencyLimit float64
	// Economy measures what retries recovered and cost, for R-pay and for the functions of running executions; nil
	// disables both.
	Economy *Economy
	// Owner names this controller; two controllers with different names never act at the same time.
	Owner string
	// Now is the clock; nil means the machine's.
	Now func() time.Time
	// SparesIdle skips reading metrics while no execution runs and the definition is the base, since there is nothing
	// to adapt and nothing to restore then. CloudWatch charges for each metric read, which would be about a hundred a
	// minute.
	SparesIdle bool
	// DryRun makes decisions but changes nothing.
	DryRun bool
	// Proposes makes a dry run keep its row: each change that it would make is recorded there and sent as an event,
	// once for as long as it stays the same. Without Proposes, a dry run writes nothing at all.
	Proposes bool
	// Adopt takes the present definition as the base, even if it was edited by hand.
	Adopt bool
}

// Result is the outcome of one tick.
type Result struct {
	At        time.Time         `json:"at"`
	Decisions []decide.Decision `json:"decisions"`
	// Note explains why the tick made no decisions; empty if it made any.
	Note string `json:"note,omitempty"`
	// Applied lists the changes that were made, and Proposed the new proposals of a dry run.
	Applied  []decide.Decision `json:"applied,omitempty"`
	Proposed []decide.Decision `json:"proposed,omitempty"`
	// Failed describes what failed while applying; the decisions before it remain in force.
	Failed string `json:"failed,omitempty"`
	// Warnings lists what could not be measured or published; the decisions were made without it.
	Warnings []string `json:"warnings,omitempty"`
}

// lease is the time that a tick may take before another controller may act.
const lease = 2 * time.Minute

// Tick measures, decides and applies once, now. It returns an error if reading or updating the controller's row
// fails. A change refused by Step Functions is reported in the result and in the audit record, and the next tick
// tries again.
func (c *Controller) Tick(ctx context.Context) (Result, error) {
	now := time.Now()
	if c.Now != nil {
		now = c.Now()
	}
	return c.TickAt(ctx, now)
}

// TickAt is like Tick at a given time, such as that of a schedule.
func (c *Controller) TickAt(ctx context.Context, now time.Time) (Result, error) {
	now = now.UTC()
	res := Result{At: now}
	row, err := c.Rows.Load(ctx, c.Machine)
	if err != nil {
		return res, err
	}
	// A lease that ends later than one taken now was taken before the clock was set back.
	if row.Owner != "" && row.Owner != c.Owner && now.Before(row.Until) && row.Until.Sub(now) <= 2*lease {
		res.Note = fmt.Sprintf("the controller %s holds the lease until %s", row.Owner, row.Until.Format(time.RFC3339))
		return res, nil
	}
	t := &tick{Controller: c, row: row, now: now, res: &res}
	if err := t.hold(ctx); err != nil {
		if errors.Is(err, ErrConflict) {
			res.Note = err.Error()
			return res, nil
		}
		return res, err
	}
	err = t.run(ctx)
	if saved := t.release(ctx); err == nil {
		err = saved
	}
	return res, err
}

// tick is the state of one Tick call.
type tick struct {
	*Controller
	row        Row
	now        time.Time
	res        *Result
	definition string
}

func (t *tick) hold(ctx context.Context) error {
	t.row.Owner, t.row.Until = t.Owner, t.now.Add(lease)
	return t.save(ctx)
}

func (t *tick) release(ctx context.Context) error {
	t.row.Until = t.now
	return t.save(ctx)
}

func (t *tick) save(ctx context.Context) error {
	if t.DryRun && !t.Proposes {
		return nil
	}
	row, err := t.Rows.Save(ctx, t.row)
	t.row = row
	return err
}

func (t *tick) run(ctx context.Context) error {
	described, err := t.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &t.Machine})
	if err != nil {
		return fmt.Errorf("state machine %s: %w", t.Machine, err)
	}
	t.definition = aws.ToString(described.Definition)
	if err := t.noteDeployment(ctx); err != nil || t.res.Note != "" {
		return err
	}
	if err := t.adoptDeployment(ctx); err != nil {
		return err
	}
	if !t.mine() {
		return nil
	}
	targets, err := Targets(t.row.Base)
	if err != nil {
		return fmt.Errorf("state machine %s: %w", t.Machine, err)
	}
	var running *decide.MapRun
	if described.Type != types.StateMachineTypeExpress { // Express executions cannot be listed, and have no Map Runs
		executions, busy, err := t.executions(ctx)
		if err != nil {
			return err
		}
		if t.SparesIdle && !busy && t.row.Hash == Hash(t.row.Base) {
			t.res.Note = idle
			return nil
		}
		if running, err = t.mapRun(ctx, executions); err != nil {
			return err
		}
	}
	t.recoveries(ctx, targets)
	measured, err := t.measure(ctx, targets)
	if err != nil {
		return err
	}
	for i, target := range targets {
		if err := t.decide(ctx, target, measured[i], running); err != nil {
			return err
		}
	}
	return nil
}

// measure measures all states. States that call the same function are one load on it.
func (t *tick) measure(ctx context.Context, targets []Target) ([]decide.Measurement, error) {
	measured := make([]decide.Measurement, len(targets))
	callees := map[string][]*decide.Measurement{}
	for i, target := range targets {
		m, err := Measure(ctx, t.Metrics, nameOf(t.Machine), target, t.Capacity, t.now)
		if err != nil {
			return nil, err
		}
		measured[i] = m
		if target.Function != "" {
			callees[target.Function] = append(callees[target.Function], &measured[i])
		}
	}
	for _, states := range callees {
		decide.Together(states)
	}
	return measured, nil
}

// mine reports whether the controller may change the definition: it must be the base, or the controller's own last
// update.
func (t *tick) mine() bool {
	hash := Hash(t.definition)
	switch {
	case t.row.Base == "", t.Adopt && hash != Hash(t.row.Base):
		t.row.Base, t.row.Hash, t.row.States = t.definition, hash, nil
		t.row.add(Entry{At: t.now, What: Adopted, Text: "this definition is now the base", After: hash})
		return true
	case hash == t.row.Hash:
		return true
	}
	// If the controller crashed between an update and its audit entry, the definition was only recorded as Begun.
	if n := len(t.row.History); n > 0 && t.row.History[n-1].What == Begun && t.row.History[n-1].After == hash {
		t.row.Hash = hash
		t.row.add(Entry{At: t.now, State: t.row.History[n-1].State, What: Applied, After: hash,
			Text: "the update had succeeded before the controller was interrupted"})
		return true
	}
	t.res.Note = "nothing changed: the definition was changed by another program or person; review it, and accept it as the base with --adopt"
	if n := len(t.row.History); n == 0 || t.row.History[n-1].What != HandOff || t.row.History[n-1].After != hash {
		t.row.add(Entry{At: t.now, What: HandOff, Text: t.res.Note, Before: t.row.Hash, After: hash})
	}
	return false
}

// idle is the note of a tick that had nothing to measure.
const idle = "no execution is running or started recently, and the definition is the base"

// lately is the age up to which an execution's start counts as recent: two windows and the metrics' delay. The
// metrics can still cover such an execution if it has ended.
const lately = 15 * time.Minute

// executions returns up to ten running executions. busy reports whether an execution is running or started
// recently; short executions of a stream are hardly ever seen running. Without SparesIdle, busy is always true.
func (t *tick) executions(ctx context.Context) (running []types.ExecutionListItem, busy bool, err error) {
	in := &sfn.ListExecutionsInput{StateMachineArn: &t.Machine, MaxResults: 10,
		StatusFilter: types.ExecutionStatusRunning}
	out, err := t.ListExecutions(ctx, in)
	if err != nil {
		return nil, false, fmt.Errorf("running executions of %s: %w", t.Machine, err)
	}
	if len(out.Executions) > 0 || !t.SparesIdle {
		return out.Executions, true, nil
	}
	in.StatusFilter, in.MaxResults = "", 1
	if out, err = t.ListExecutions(ctx, in); err != nil { // newest first
		return nil, false, fmt.Errorf("the newest execution of %s: %w", t.Machine, err)
	}
	busy = len(out.Executions) > 0 && t.now.Sub(aws.ToTime(out.Executions[0].StartDate)) < lately
	return nil, busy, nil
}

// mapRun returns the newest running distributed Map of the executions, or nil.
func (t *tick) mapRun(ctx context.Context, executions []types.ExecutionListItem) (*decide.MapRun, error) {
	for _, e := range executions {
		runs, err := t.ListMapRuns(ctx, &sfn.ListMapRunsInput{ExecutionArn: e.ExecutionArn, MaxResults: 10})
		if err != nil {
			return nil, fmt.Errorf("listing Map Runs of %s: %w", aws.ToString(e.ExecutionArn), err)
		}
		for _, r := range runs.MapRuns {
			if r.StopDate != nil {
				continue
			}
			d, err := t.DescribeMapRun(ctx, &sfn.DescribeMapRunInput{MapRunArn: r.MapRunArn})
			if err != nil {
				return nil, fmt.Errorf("describing Map Run %s: %w", aws.ToString(r.MapRunArn), err)
			}
			if d.Status == types.MapRunStatusRunning {
				return t.begun(aws.ToString(r.MapRunArn), int(d.MaxConcurrency)), nil
			}
		}
	}
	return nil, nil
}

// begun returns a Map Run with the concurrency that it had when the controller first saw it; 0 means the maximum.
func (t *tick) begun(arn string, concurrency int) *decide.MapRun {
	if concurrency == 0 {
		concurrency = decide.MaxConcurrency
	}
	base, seen := t.row.MapRuns[arn]
	if !seen {
		base = concurrency
		t.row.MapRuns = map[string]int{arn: base}
	}
	return &decide.MapRun{ARN: arn, Concurrency: concurrency, Base: max(base, concurrency)}
}

func (t *tick) decide(ctx context.Context, target Target, m decide.Measurement, running *decide.MapRun) error {
	var err error
	m.Recoveries = t.row.Recoveries[target.State]
	if t.Parameters.Rules == decide.SourceRules && target.Function != "" {
		if m.Function, err = MeasureFunction(ctx, t.Metrics, target.Function, t.ConcurrencyLimit, t.now); err != nil {
			return err
		}
	}
	if target.Closed {
		m.MapRun = running
	}
	d := decide.Next(target.Subject, t.Parameters, t.row.States[target.State], m)
	t.res.Decisions = append(t.res.Decisions, d)
	switch {
	case t.DryRun && t.Proposes:
		t.propose(ctx, d)
		if d.Changes() {
			return nil // the memory stays as it was, because nothing changes
		}
	case d.Changes() && !t.DryRun:
		if err := t.apply(ctx, d); err != nil {
			t.res.Failed = err.Error()
			return nil //nolint:nilerr // it is in the result and on record, and the memory stays as it was
		}
		t.res.Applied = append(t.res.Applied, d)
	}
	if t.row.States == nil {
		t.row.States = map[string]decide.Memory{}
	}
	t.row.States[target.State] = t.row.States[target.State].After(d)
	return nil
}

// apply carries out a decision. It writes an entry in the audit record before and after.
func (t *tick) apply(ctx context.Context, d decide.Decision) error {
	begun := Entry{At: t.now, State: d.State, What: Begun, Text: d.String(), Why: d.Reasons}
	var do func() error
	if d.Verdict == decide.ChangeMapRun {
		begun.After = strconv.Itoa(d.MapRun.Concurrency)
		do = func() error { return t.updateMapRun(ctx, d.MapRun) }
	} else {
		next, err := Replace(t.definition, d.State, d.Retry)
		if err == nil {
			err = errors.Join(accepted(next), reviewed(next, t.row.Base))
		}
		if err != nil {
			t.row.add(Entry{At: t.now, State: d.State, What: Failed, Text: err.Error(), Why: d.Reasons})
			return err
		}
		begun.Before, begun.After = Hash(t.definition), Hash(next)
		do = func() error { return t.updateStateMachine(ctx, d, next) }
	}
	t.row.add(begun)
	if err := t.save(ctx); err != nil {
		return err // nothing is changed without a record
	}
	ended := begun
	ended.What = Applied
	err := do()
	if err != nil {
		ended.What, ended.Text = Failed, err.Error()
	} else if told := t.tell(ctx, decide.EventUpdate, d, begun); told != nil {
		ended.Text += "; no event was sent: " + told.Error()
	}
	t.row.add(ended)
	return err
}

func (t *tick) updateMapRun(ctx context.Context, run *decide.MapRun) error {
	_, err := t.UpdateMapRun(ctx, &sfn.UpdateMapRunInput{
		MapRunArn: &run.ARN, MaxConcurrency: aws.Int32(int32(run.Concurrency)),
	})
	if err != nil {
		return fmt.Errorf("updating Map Run %s: %w", run.ARN, err)
	}
	return nil
}

// updateStateMachine writes the next definition, but only if the present one is still the one that the tick started
// with.
func (t *tick) updateStateMachine(ctx context.Context, d decide.Decision, next string) error {
	now, err := t.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &t.Machine})
	if err != nil {
		return fmt.Errorf("state machine %s: %w", t.Machine, err)
	}
	if Hash(aws.ToString(now.Definition)) != Hash(t.definition) {
		return errors.New("the definition was changed in the meantime; nothing was written")
	}
	text := "stepback adapt: " + d.State + ": " + d.Setting.String()
	out, err := t.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{
		StateMachineArn: &t.Machine, Definition: &next, Publish: true,
		VersionDescription: aws.String(text[:min(len(text), 256)]),
	})
	if err != nil {
		return fmt.Errorf("state machine %s: %w", t.Machine, err)
	}
	t.definition, t.row.Hash = next, Hash(next)
	if err := t.route(ctx, aws.ToString(out.StateMachineVersionArn)); err != nil {
		return err
	}
	t.prune(ctx)
	return nil
}

// tell sends an event about a change or a proposal.
func (t *tick) tell(ctx context.Context, detailType string, d decide.Decision, e Entry) error {
	if t.Events == nil {
		return nil
	}
	detail, err := json.Marshal(struct {
		Machine string         `json:"stateMachineArn"`
		State   string         `json:"state"`
		Setting decide.Setting `json:"newConfig"`
		MapRun  *decide.MapRun `json:"mapRun,omitempty"`
		Entry   Entry          `json:"entry"`
		Text    string         `json:"text"`
		At      time.Time      `json:"timestamp"`
	}{t.Machine, d.State, d.Setting, d.MapRun, e, d.String(), t.now})
	if err != nil {
		return err
	}
	var out struct {
		Entries []struct{ ErrorCode string }
	}
	err = t.Events.Call(ctx, "PutEvents", map[string]any{"Entries": []any{map[string]any{
		"Source": decide.EventSource, "DetailType": detailType, "Detail": string(detail), "Resources": []string{t.Machine},
		"Time": float64(t.now.UnixMilli()) / 1000, // seconds, the timestamp format of the API model
	}}}, &out)
	for _, entry := range out.Entries {
		if err == nil && entry.ErrorCode != "" {
			err = fmt.Errorf("EventBridge refused the event: %s", entry.ErrorCode)
		}
	}
	return err
}
