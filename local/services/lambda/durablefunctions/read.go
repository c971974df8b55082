package durablefunctions

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"stepback/aws"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// maxPage is the maximum size of a page of operations, in bytes of JSON.
const maxPage = 5 << 20

// defaultItems is the number of items of a page if the request names none.
const defaultItems = 100

// mostItems is the maximum number of items of a page.
const mostItems = 1000

// pageOf returns operations from an index on, at most n and at most maxPage bytes, and the marker of the next page.
func pageOf[T durable.Stamp](all []*durable.Operation, from, n int, show func(*durable.Operation) durable.Shown[T]) (
	page []durable.Shown[T], marker string) {
	size := 0
	page = []durable.Shown[T]{}
	for i := from; i < len(all); i++ {
		size += sizeOf(all[i])
		if len(page) == n || len(page) > 0 && size > maxPage {
			return page, strconv.Itoa(i)
		}
		page = append(page, show(all[i]))
	}
	return page, ""
}

// sizeOf estimates the size of an operation as JSON text.
func sizeOf(o *durable.Operation) int {
	const frame = 400
	size := frame + len(o.Name) + len(o.CallbackID)
	if o.Result != nil {
		size += len(*o.Result)
	}
	if o.Error != nil {
		text, err := json.Marshal(o.Error)
		if err == nil {
			size += len(text)
		}
	}
	return size
}

// State is a page of the operations of an execution.
type State struct {
	Token      string
	Operations []durable.Shown[durable.Seconds]
	Marker     string
}

// Checkpoint applies the updates of the running invocation of an execution. It returns when they are on disk.
func (s *Service) Checkpoint(ctx context.Context, arn string, c *durable.Checkpoint) (*State, error) {
	r, st, err := s.live(ctx, arn)
	if err != nil {
		return nil, err
	}
	defer r.leave()
	var said durable.State
	switch {
	case st.x.Repeats(c):
		said = st.x.State()
	case len(c.Updates) == 0:
		said, err = st.x.Poll(c.Token)
	default:
		a, _ := aws.ParseARN(arn)
		c.Targets = s.targets(a.Scope(), c.Updates)
		if err = r.apply(st, &durable.Command{Checkpoint: c}); err == nil && !st.x.Over() {
			said = st.x.State()
		}
	}
	if err != nil {
		return nil, refused(err)
	}
	out := &State{Token: said.Token, Operations: []durable.Shown[durable.Seconds]{}}
	for _, o := range said.Operations {
		out.Operations = append(out.Operations, durable.Show[durable.Seconds](o))
	}
	return out, nil
}

// live waits for the turn of an execution whose function may checkpoint. The caller ends the turn.
func (s *Service) live(ctx context.Context, arn string) (*run, *state, error) {
	r, err := s.running(ctx, arn)
	if err != nil {
		return nil, nil, err
	}
	if r != nil {
		st, err := r.take(ctx)
		if !errors.Is(err, journal.ErrNotFound) { // otherwise it has ended in the meantime
			return r, st, err
		}
	}
	x, err := s.find(ctx, arn)
	switch {
	case err != nil:
		return nil, nil, err
	case x == nil:
		return nil, nil, missing(arn)
	}
	return nil, nil, invalid("Invalid Checkpoint Token: The durable execution has ended.")
}

func missing(arn string) error {
	return refusal("ResourceNotFoundException", http.StatusNotFound, "Durable execution not found: "+arn)
}

func invalid(message string) error {
	return refusal("InvalidParameterValueException", http.StatusBadRequest, message)
}

// refused converts a refusal of the state machine to an error of the API.
func refused(err error) error {
	if r, ok := err.(*durable.Refusal); ok { //nolint:errorlint // Apply wraps none
		return refusal(r.Code, http.StatusBadRequest, r.Message)
	}
	return err
}

// State returns a page of an execution's operations to its running invocation. n is the maximum number; 0 means
// mostItems.
func (s *Service) State(ctx context.Context, arn, token, marker string, n int) (*State, error) {
	r, st, err := s.live(ctx, arn)
	if err != nil {
		return nil, err
	}
	defer r.leave()
	if !st.x.Knows(token) {
		return nil, invalid("Invalid Checkpoint Token: It belongs to no running invocation of the durable execution.")
	}
	from := 0
	if marker != "" {
		if from, err = strconv.Atoi(marker); err != nil || from < 0 || from > len(st.x.Operations()) {
			return nil, invalid("Invalid marker")
		}
	}
	if n <= 0 || n > mostItems {
		n = mostItems
	}
	out := &State{}
	out.Operations, out.Marker = pageOf(st.x.Operations(), from, n, durable.Show[durable.Seconds])
	return out, nil
}

// Complete completes a callback, or keeps it alive.
func (s *Service) Complete(ctx context.Context, c *durable.Callback) error {
	arn, ok := durable.ParseCallbackID(c.ID)
	if !ok {
		return invalid("Invalid callback ID.")
	}
	return s.doWhileRunning(ctx, arn, &durable.Command{Callback: c},
		invalid("Invalid callback ID: there is no such durable execution."),
		refusal(durable.CallbackClosed, http.StatusBadRequest, "The durable execution of the callback has ended."))
}

// doWhileRunning applies a command to an execution and waits until it is durable. It returns unknown if there is no
// such execution, and over if it has ended.
func (s *Service) doWhileRunning(ctx context.Context, arn string, c *durable.Command, unknown, over error) error {
	ended, err := s.do(ctx, arn, c)
	if err != nil || !ended {
		return err
	}
	x, err := s.find(ctx, arn)
	switch {
	case err != nil:
		return err
	case x == nil:
		return unknown
	}
	return over
}

// do applies a command to an execution and waits until it is durable. ended is true if no running execution has the
// ARN.
func (s *Service) do(ctx context.Context, arn string, c *durable.Command) (ended bool, err error) {
	r, err := s.running(ctx, arn)
	if err != nil || r == nil {
		return r == nil, err
	}
	err = r.do(ctx, c)
	if errors.Is(err, journal.ErrNotFound) { // it has ended while this request waited for its turn
		return true, nil
	}
	return false, refused(err)
}

// Stop stops an execution and returns when it ended. One that has ended stays as it is.
func (s *Service) Stop(ctx context.Context, arn string, e *durable.Error) (time.Time, error) {
	if _, err := s.do(ctx, arn, &durable.Command{Stop: &durable.Stop{Error: e}}); err != nil {
		return time.Time{}, err
	}
	x, err := s.find(ctx, arn)
	if err != nil {
		return time.Time{}, err
	}
	if x == nil {
		return time.Time{}, missing(arn)
	}
	return x.Stop, nil
}

// RetryNow ends the wait of a STEP before its next attempt, so that this starts at once, or with the ID of the
// EXECUTION the wait before its next invocation. It returns when that is on disk. The later delays do not change. The
// error is an *aws.Error if the execution does not run, or if the operation does not wait.
func (s *Service) RetryNow(ctx context.Context, arn, operation string) error {
	return s.doWhileRunning(ctx, arn, &durable.Command{Retry: &durable.Retry{OperationID: operation}}, missing(arn),
		invalid("The durable execution has ended: "+arn))
}

// Description describes an execution, as GetDurableExecution returns it. Lists omit the members from DurableConfig on.
type Description struct {
	DurableExecutionArn  string
	DurableExecutionName string
	FunctionArn          string
	InputPayload         *string        `json:",omitempty"`
	Result               *string        `json:",omitempty"`
	Error                *durable.Error `json:",omitempty"`
	StartTimestamp       durable.Seconds
	Status               string
	EndTimestamp         durable.Seconds `json:",omitzero"`
	Version              string          `json:",omitempty"`
	TraceHeader          *TraceHeader    `json:",omitempty"`
	DurableConfig        *Config         `json:",omitempty"`
	// ExecutionDataIncluded is false if the request excluded InputPayload, Result and Error.
	ExecutionDataIncluded *bool `json:",omitempty"`
}

// TraceHeader is the trace that an execution belongs to.
type TraceHeader struct {
	XAmznTraceId string `json:",omitempty"` //nolint:revive // the API's spelling
}

func describe(x *journal.Execution) *Description {
	d := &Description{DurableExecutionArn: x.ARN, DurableExecutionName: x.Name, FunctionArn: x.VersionARN,
		Status: aStatus(x.Status), StartTimestamp: durable.Seconds(x.Start), EndTimestamp: durable.Seconds(x.Stop)}
	return d
}

// Describe returns the description of an execution. Without data, it omits InputPayload, Result and Error.
func (s *Service) Describe(ctx context.Context, arn string, data bool) (*Description, error) {
	x, err := s.find(ctx, arn)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return nil, missing(arn)
	}
	d := describe(x)
	d.Version, d.DurableConfig, d.ExecutionDataIncluded = versionOf(x).Number, configOf(x), &data
	if x.TraceHeader != "" {
		d.TraceHeader = &TraceHeader{x.TraceHeader}
	}
	if !data {
		return d, nil
	}
	d.InputPayload = &x.Input
	switch {
	case x.Status == history.Succeeded:
		d.Result = &x.Output
	case x.Ended():
		d.Error, err = s.failure(ctx, arn)
	}
	return d, err
}

// History returns the events of an execution so far.
func (s *Service) History(ctx context.Context, arn string) ([]history.Event, error) {
	r, err := s.running(ctx, arn)
	if err != nil {
		return nil, err
	}
	if r != nil {
		st, err := r.take(ctx)
		if err == nil {
			events := slices.Clone(st.history)
			r.leave()
			return events, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
	}
	x, err := s.find(ctx, arn)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return nil, missing(arn)
	}
	return s.o.Journal.History(ctx, arn)
}

// Filter selects the executions that List returns.
type Filter struct {
	// Function is the function's ARN. Version and Alias restrict the list if they are not empty.
	Function, Version, Alias string
	Name                     string
	Statuses                 []string
	After, Before            time.Time // of the start; zero means no bound
	Oldest                   bool      // oldest first
	Marker                   string
	Items                    int
}

// List returns a page of the executions of a function, newest first, and the marker of the next page. Executions that
// start meanwhile do not change later pages.
func (s *Service) List(ctx context.Context, f *Filter) (page []*Description, marker string, err error) {
	var after journal.Place
	if f.Marker != "" {
		if after, err = placeOf(f.Marker); err != nil {
			return nil, "", invalid("Invalid marker")
		}
	}
	n := f.Items
	if n <= 0 || n > mostItems {
		n = defaultItems
	}
	q := &Query{Of: f.Function, Statuses: f.Statuses, Since: f.After}
	switch {
	case f.Alias != "":
		q.Of += ":" + f.Alias
	case f.Version != "":
		q.Of += ":" + f.Version
	}
	if !f.Oldest {
		q.After = after
	}
	var all []*journal.Execution
	for l, err := range s.Listed(ctx, q) {
		if err != nil {
			return nil, "", err
		}
		x := l.Execution
		if f.Oldest && after.ARN != "" && journal.PlaceOf(x).Compare(after) >= 0 {
			break // it was on an earlier page, as all that follow
		}
		if f.Name != "" && x.Name != f.Name || !f.Before.IsZero() && !x.Start.Before(f.Before) ||
			!f.After.IsZero() && !x.Start.After(f.After) {
			continue
		}
		if all = append(all, x); !f.Oldest && len(all) > n {
			break
		}
	}
	if f.Oldest {
		slices.Reverse(all)
	}
	page = []*Description{}
	for i, x := range all {
		if i == n {
			return page, placeToken(all[i-1]), nil
		}
		page = append(page, describe(x))
	}
	return page, "", nil
}

// HistoryRequest asks for a page of the events of an execution.
type HistoryRequest struct {
	// Data includes payloads. Reverse lists the latest events first.
	Data, Reverse bool
	Marker        string
	Items         int // at most mostItems; 0 means mostItems
}

// HistoryPage is a page of events in the form of Lambda's API, and the marker of the next page.
type HistoryPage struct {
	Events []json.RawMessage
	Marker string
}

// HistoryPage returns a page of the events of an execution.
func (s *Service) HistoryPage(ctx context.Context, arn string, in *HistoryRequest) (*HistoryPage, error) {
	events, err := s.History(ctx, arn)
	if err != nil {
		return nil, err
	}
	if in.Reverse {
		slices.Reverse(events)
	}
	from := 0
	if in.Marker != "" { // the number of the last event of the page before
		last, err := strconv.ParseInt(in.Marker, 10, 64)
		from = slices.IndexFunc(events, func(e history.Event) bool { return e.ID == last }) + 1
		if err != nil || from == 0 {
			return nil, invalid("Invalid marker")
		}
	}
	n := in.Items
	if n <= 0 || n > mostItems {
		n = mostItems
	}
	page := &HistoryPage{Events: []json.RawMessage{}}
	size := 0
	for i := from; i < len(events); i++ {
		text, err := durable.EventJSON(&events[i], in.Data)
		if err != nil {
			return nil, err
		}
		size += len(text)
		if len(page.Events) == n || len(page.Events) > 0 && size > maxPage {
			page.Marker = strconv.FormatInt(events[i-1].ID, 10)
			break
		}
		page.Events = append(page.Events, text)
	}
	return page, nil
}
