package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/timeline"
	"stepback/local/services/lambda/durablefunctions"
)

// Durable reads executions of durable functions and acts on them for the console; *durablefunctions.Service implements
// it.
type Durable interface {
	Page(ctx context.Context, q durablefunctions.Query, size int, token string) ([]durablefunctions.Listed, string,
		error)
	Listed(ctx context.Context, q *durablefunctions.Query) iter.Seq2[durablefunctions.Listed, error]
	Find(ctx context.Context, arn string) (*journal.Execution, error)
	History(ctx context.Context, arn string) ([]history.Event, error)
	Retries(ctx context.Context, arn string) ([]durablefunctions.Retry, error)

	RetryNow(ctx context.Context, arn, operation string) error
	Stop(ctx context.Context, arn string, e *durable.Error) (time.Time, error)
	Complete(ctx context.Context, c *durable.Callback) error
}

// DurableExecutionsView lists executions of durable functions: of all of them, or of the one that the parameter
// "function" names.
type DurableExecutionsView struct {
	Function   string         `json:"function,omitempty"`
	Functions  []string       `json:"functions"` // the names of the durable functions
	Filter     Filter         `json:"filter"`
	Executions []ExecutionRow `json:"executions"`
	Next       string         `json:"nextToken,omitempty"`
	First      bool           `json:"-"`
}

// durableQuery converts a filter to a query for the executions of a function; of all functions if the name is empty.
func (c *Console) durableQuery(f Filter, function string, now time.Time) (durablefunctions.Query, error) {
	of := c.cfg.Scope.ARN("lambda", "")
	if function != "" {
		of += "function:" + function
	}
	q, err := f.query(of, now)
	if err != nil {
		return durablefunctions.Query{}, err
	}
	d := durablefunctions.Query{Of: of, Retrying: q.Retrying, Error: q.Error, Since: q.Since}
	for _, s := range q.Statuses {
		d.Statuses = append(d.Statuses, string(s))
	}
	return d, nil
}

func (c *Console) durableExecutions(r *request) (*answer, error) {
	if c.cfg.Durable == nil {
		return nil, errNoDurable
	}
	v := &DurableExecutionsView{Function: r.param("function"), Filter: filterOf(r.param), First: r.param("after") == "",
		Executions: []ExecutionRow{}}
	q, err := c.durableQuery(v.Filter, v.Function, r.now)
	if err != nil {
		return nil, err
	}
	if v.Functions, err = c.durableFunctions(r.Context()); err != nil {
		return nil, err
	}
	size := int(min(mostListed, max(1, r.number("size", pageSize))))
	page, next, err := c.cfg.Durable.Page(r.Context(), q, size, r.param("after"))
	if err != nil {
		return nil, err
	}
	v.Next = next
	for i := range page {
		v.Executions = append(v.Executions, durableRow(&page[i], r.now))
	}
	return &answer{Title: "Durable executions", Template: "durable", View: v}, nil
}

// durableFunctions returns the names of the durable functions.
func (c *Console) durableFunctions(ctx context.Context) ([]string, error) {
	names := []string{}
	in := map[string]any{}
	for {
		var out struct {
			Functions []struct {
				FunctionName  string
				DurableConfig *struct{}
			}
			NextMarker string
		}
		if err := c.cfg.Call(ctx, "lambda", "ListFunctions", in, &out); err != nil {
			return nil, err
		}
		for _, f := range out.Functions {
			if f.DurableConfig != nil {
				names = append(names, f.FunctionName)
			}
		}
		if out.NextMarker == "" {
			return names, nil
		}
		in["Marker"] = out.NextMarker
	}
}

// functionOf returns the name of the function that an execution runs.
func functionOf(x *journal.Execution) string { return lastOf(x.MachineARN) }

func durableRow(l *durablefunctions.Listed, now time.Time) ExecutionRow {
	row := ExecutionRow{ARN: l.ARN, Name: l.Name, Function: functionOf(l.Execution), Status: history.Status(l.Status()),
		Started: l.Start, Stopped: l.Stop, Error: l.Failure.Name, Took: now.Sub(l.Start), Retries: durableRetries(l)}
	if l.Ended() {
		row.Took = l.Stop.Sub(l.Start)
	}
	return row
}

// durableRetries returns the steps of an execution that wait for their next attempts as rows.
func durableRetries(l *durablefunctions.Listed) []RetryRow {
	rows := make([]RetryRow, 0, len(l.Retries))
	for _, t := range l.Retries {
		rows = append(rows, RetryRow{Execution: l.ARN, Machine: functionOf(l.Execution), State: t.Name, Error: t.Error,
			Attempt: t.Attempt, Failed: t.Failed, Next: t.Next, Operation: t.Operation, Type: t.Type})
	}
	return rows
}

// durableTonight adds what the durable functions retry, and what has failed there in the last day.
func (c *Console) durableTonight(r *request, v *TonightView) error {
	if c.cfg.Durable == nil {
		return nil
	}
	all := c.cfg.Scope.ARN("lambda", "")
	for l, err := range c.cfg.Durable.Listed(r.Context(), &durablefunctions.Query{Of: all, Retrying: true}) {
		if err != nil {
			return err
		}
		if v.Retrying = append(v.Retrying, durableRetries(&l)...); len(v.Retrying) >= enough {
			break
		}
	}
	groups, n := map[[2]string]*Group{}, 0
	for l, err := range c.cfg.Durable.Listed(r.Context(), &durablefunctions.Query{Of: all, Since: r.now.Add(-day),
		Statuses: []string{durable.Failed, durable.TimedOut}}) {
		if err != nil {
			return err
		}
		key := [2]string{functionOf(l.Execution), cmp.Or(l.Failure.Name, l.Status())}
		g := groups[key]
		if g == nil {
			g = &Group{Machine: key[0], Error: key[1], First: l.Start, Last: l.Start, Sample: l.ARN, Durable: true}
			if l.Failure.Name == "" {
				g.Status = l.Status()
			}
			groups[key] = g
			v.Failures = append(v.Failures, g)
		}
		g.Count.N++
		g.First = l.Start // newest first
		if n++; n == enough {
			g.Count.More = true
			break
		}
	}
	return nil
}

// DurableView shows an execution of a durable function: its operations with their attempts and waits, and what happens
// next and when.
type DurableView struct {
	ARN      string        `json:"durableExecutionArn"`
	Name     string        `json:"durableExecutionName"`
	Function string        `json:"function"`
	Version  string        `json:"version"` // or the alias
	Status   string        `json:"status"`
	Started  time.Time     `json:"startDate"`
	Stopped  time.Time     `json:"stopDate,omitzero"`
	Took     time.Duration `json:"tookNanoseconds"`
	TimesOut time.Time     `json:"timesOut,omitzero"`
	Error    string        `json:"error,omitempty"`
	Cause    Payload       `json:"cause,omitzero"`
	Input    Payload       `json:"input"`
	Result   Payload       `json:"result,omitzero"`
	// Events is the number of events so far, and Operations the number of operations. Invocations counts the
	// invocations that have ended, and Crashes describes those that failed; empty if none did. Crash is the message of
	// the last failure.
	Events      int                  `json:"events"`
	Operations  int                  `json:"operations"`
	Invocations timeline.Invocations `json:"invocations"`
	Crashes     string               `json:"-"`
	Crash       Payload              `json:"-"`
	Retries     int                  `json:"retries"`
	Waited      string               `json:"waited,omitempty"`
	Happens     []NowRow             `json:"now"`
	More        int                  `json:"moreNow,omitempty"`
	Tab         string               `json:"tab"`
	Bars        *BarsView            `json:"timeline,omitempty"`
	List        *EventsView          `json:"eventList,omitempty"`
	// Data are the inputs, results and errors of the operations.
	Data []OperationRow `json:"data,omitempty"`
	Now  time.Time      `json:"at"`
}

// OperationRow is an operation with its data.
type OperationRow struct {
	Name     string           `json:"name"`
	Type     string           `json:"type"`
	Depth    int              `json:"depth"`
	Entry    int64            `json:"entryEventId"`
	Exit     int64            `json:"exitEventId,omitempty"`
	Outcome  timeline.Outcome `json:"outcome"`
	Attempts int              `json:"attempts"`
	Input    Payload          `json:"input,omitzero"`
	Result   Payload          `json:"result,omitzero"`
	Error    string           `json:"error,omitempty"`
	Cause    Payload          `json:"cause,omitzero"`
}

var errNoDurable = &notFound{"This server runs no durable functions."}

// durableExecution shows an execution of a durable function.
func (c *Console) durableExecution(r *request, arn string) (*answer, error) {
	if c.cfg.Durable == nil {
		return nil, errNoDurable
	}
	if scope := c.cfg.Scope.ARN("lambda", ""); journal.ScopeOf(arn) != scope {
		return nil, &notFound{"This console shows " + strings.TrimSuffix(scope, ":") + "; " + arn + " is not part of that."}
	}
	x, err := c.cfg.Durable.Find(r.Context(), arn)
	var refused *aws.Error
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil, &notFound{refused.Message}
	}
	if err != nil {
		return nil, err
	}
	events, err := c.cfg.Durable.History(r.Context(), arn)
	if err != nil {
		return nil, err
	}
	t := timeline.Read(events)
	v := &DurableView{ARN: x.ARN, Name: x.Name, Function: functionOf(x), Version: lastOf(x.VersionARN),
		Status:  string(x.Status),
		Started: x.Start, Stopped: x.Stop, Took: t.Took(r.now), TimesOut: t.TimesOut, Error: t.Failure.Name,
		Cause: c.causeOf(t.Failure.Cause), Input: c.payload(x.Input, maxShown), Events: len(events),
		Operations: len(t.Visits), Invocations: t.Invocations, Crashes: t.Invocations.Text(r.now),
		Crash: c.causeOf(t.Invocations.Failure.Cause), Tab: r.param("tab"), Happens: []NowRow{}, Now: r.now}
	if x.AliasARN != "" {
		v.Version = lastOf(x.AliasARN)
	}
	if x.Ended() {
		v.TimesOut, v.Result = time.Time{}, c.payload(x.Output, maxShown)
	}
	if x.Status == history.Aborted {
		v.Status = durable.Stopped
	}
	v.count(t)
	rows, err := c.durableNow(r, x, t)
	if err != nil {
		return nil, err
	}
	if len(rows) > shownNow && r.param("now") != "all" {
		v.More, rows = len(rows)-shownNow, rows[:shownNow]
	}
	for _, n := range rows {
		v.Happens = append(v.Happens, NowRow{n, n.Text(r.now)})
	}
	if r.param("format") == "test" {
		return c.durableTestCase(r, x, events)
	}
	switch v.Tab {
	case "events":
		v.List = c.events(r, events, t)
	case "data":
		v.Data, err = c.operationRows(events, t)
	default:
		v.Tab, v.Bars = "", bars(r, t, nil)
	}
	return &answer{Title: x.Name, Template: "durableexecution", Section: "durable", View: v, Topics: []string{arn}, Still: x.Ended()}, err
}

// durableNow returns what an execution does now. If the function is invoked again because its latest invocations
// failed, that is first, and steps that an interrupted invocation left are not reported as running.
func (c *Console) durableNow(r *request, x *journal.Execution, t *timeline.Timeline) ([]timeline.Now, error) {
	rows := t.Now(nil, nil)
	if x.Ended() {
		return rows, nil
	}
	retries, err := c.cfg.Durable.Retries(r.Context(), x.ARN)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(retries, func(t durablefunctions.Retry) bool { return t.Type == durable.TypeExecution })
	if i < 0 {
		return rows, nil
	}
	again := &retries[i]
	rows = slices.DeleteFunc(rows, func(n timeline.Now) bool {
		return n.Type == durable.TypeStep && n.Outcome == timeline.Running
	})
	return slices.Insert(rows, 0, timeline.Now{State: again.Name, Visit: -1, Outcome: timeline.Waiting,
		Since: again.Failed, Attempt: int(again.Attempt - 1), Failure: history.NewFailure(again.Error, ""),
		Next: again.Next, GivesUp: t.TimesOut, Operation: again.Operation, Type: again.Type}), nil
}

// count counts the retries with their waits.
func (v *DurableView) count(t *timeline.Timeline) {
	var waited time.Duration
	for _, visit := range t.Visits {
		v.Retries += visit.Retries()
		for _, w := range visit.Waits() {
			if !w.Until.IsZero() {
				waited += w.Until.Sub(w.From)
			}
		}
	}
	if waited > 0 {
		v.Waited = timeline.Short(waited)
	}
}

// operationRows returns the operations with their data.
func (c *Console) operationRows(events []history.Event, t *timeline.Timeline) ([]OperationRow, error) {
	rows := []OperationRow{}
	for _, visit := range t.Visits {
		row := OperationRow{Name: visit.State, Type: visit.Type, Depth: visit.Depth, Entry: visit.Entry,
			Exit:    visit.Exit,
			Outcome: visit.Outcome, Attempts: len(visit.Attempts), Error: visit.Failure.Name,
			Cause: c.causeOf(visit.Failure.Cause)}
		for id, to := range map[int64]*Payload{visit.Entry: &row.Input, visit.Exit: &row.Result} {
			if id == 0 || id == visit.Entry && visit.Type != durable.TypeChainedInvoke {
				continue
			}
			d, err := durable.DetailsOf(&events[id-events[0].ID])
			if err != nil {
				return nil, err
			}
			if d.Payload != nil {
				*to = c.payload(*d.Payload, maxShown)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// actDurably returns an action on the durable functions.
func (c *Console) actDurably(act func(context.Context, Durable, url.Values) (string, error)) func(context.Context,
	Engine,
	url.Values) (said, to string, err error) {
	return func(ctx context.Context, _ Engine, f url.Values) (said, to string, err error) {
		if c.cfg.Durable == nil {
			return "", "", errNoDurable
		}
		said, err = act(ctx, c.cfg.Durable, f)
		return said, "", err
	}
}

// problemOf returns the error that a form describes, or nil.
func problemOf(f url.Values) *durable.Error {
	errorType, message := strings.TrimSpace(f.Get("error")), strings.TrimSpace(f.Get("cause"))
	e := &durable.Error{}
	if errorType != "" {
		e.ErrorType = &errorType
	}
	if message != "" {
		e.ErrorMessage = &message
	}
	return e
}

func stopDurable(ctx context.Context, d Durable, f url.Values) (string, error) {
	e := problemOf(f)
	if e.ErrorType == nil && e.ErrorMessage == nil {
		e = nil
	}
	_, err := d.Stop(ctx, f.Get("arn"), e)
	return "Stopped.", err
}

func succeedCallback(ctx context.Context, d Durable, f url.Values) (string, error) {
	c := &durable.Callback{ID: f.Get("id"), Outcome: durable.Outcome{Status: durable.Succeeded}}
	if result := strings.TrimSpace(f.Get("result")); result != "" {
		c.Result = &result
		if !json.Valid([]byte(result)) {
			return "", &badForm{`the result is not JSON; write text in quotation marks, such as "approved"`}
		}
	}
	return "The callback has succeeded.", d.Complete(ctx, c)
}

func failCallback(ctx context.Context, d Durable, f url.Values) (string, error) {
	return "The callback has failed.", d.Complete(ctx, &durable.Callback{ID: f.Get("id"),
		Outcome: durable.Outcome{Status: durable.Failed, Error: problemOf(f)}})
}

func heartbeatCallback(ctx context.Context, d Durable, f url.Values) (string, error) {
	return "The heartbeat was sent.", d.Complete(ctx, &durable.Callback{ID: f.Get("id"), Heartbeat: true})
}

// retryDurable begins a step's next attempt.
func (c *Console) retryDurable(ctx context.Context, arn, operation string) (said, to string, err error) {
	if c.cfg.Durable == nil {
		return "", "", errNoDurable
	}
	return "The retry has begun.", "", c.cfg.Durable.RetryNow(ctx, arn, operation)
}

// durableNamed returns the newest executions of durable functions whose name contains a text, or whose error it is.
func (c *Console) durableNamed(r *request, text string) ([]ExecutionRow, error) {
	var rows []ExecutionRow
	if c.cfg.Durable == nil || text == "" {
		return nil, nil
	}
	looked := 0
	for l, err := range c.cfg.Durable.Listed(r.Context(), &durablefunctions.Query{Of: c.cfg.Scope.ARN("lambda", "")}) {
		if err != nil {
			return nil, err
		}
		if looked++; looked > searched || len(rows) == pageSize {
			break
		}
		if l.ARN == text || strings.Contains(l.Name, text) || l.Failure.Name == text ||
			slices.ContainsFunc(l.Retries, func(t durablefunctions.Retry) bool { return t.Error == text }) {
			rows = append(rows, durableRow(&l, r.now))
		}
	}
	return rows, nil
}
