package durablefunctions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/tasks/lambda/invocation"
)

var (
	began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	scope = aws.Scope{Account: "000000000000", Region: "us-east-1"}
	// version is a durable function that times out after a day.
	version = durablefunctions.Version{Scope: scope, Function: "F", Number: "1", Qualified: true, Timeout: 900, Retention: 1}
)

// event is the event of an invocation, as a function sees it.
type event struct {
	DurableExecutionArn   string
	CheckpointToken       string
	InitialExecutionState struct {
		Operations []operation
		NextMarker string
	}
	UpdatedOperationIDs []string `json:"UpdatedOperationIds"`
}

type operation struct {
	ID               string `json:"Id"`
	Status           string
	StartTimestamp   int64
	ExecutionDetails struct{ InputPayload string }
	StepDetails      struct {
		Attempt int
		Result  string
	}
	ChainedInvokeDetails struct {
		Result string
		Error  *durable.Error
	}
	CallbackDetails struct {
		CallbackID string `json:"CallbackId"`
		Result     string
	}
}

// of returns the operation with an ID; its status is empty if there is none.
func (e *event) of(id string) operation {
	for _, o := range e.InitialExecutionState.Operations {
		if o.ID == id {
			return o
		}
	}
	return operation{}
}

// handler is the code of a function. It returns the function's response.
type handler func(ctx context.Context, s *durablefunctions.Service, e *event) (string, error)

// functions runs handlers, by the names of their functions.
type functions struct {
	handlers map[string]handler
	service  atomic.Pointer[durablefunctions.Service]
	calls    atomic.Int64
}

func (f *functions) Run(ctx context.Context, v durablefunctions.Version, r *invocation.Request) (*invocation.Answer, error) {
	f.calls.Add(1)
	h, ok := f.handlers[v.Function]
	if !ok {
		return nil, &aws.Error{Code: "ResourceNotFoundException", Status: http.StatusNotFound, Message: "Function not found: " + v.Function}
	}
	e := new(event)
	if err := json.Unmarshal(r.Payload, e); err != nil {
		e = &event{} // not a durable function
	}
	out, failure := h(ctx, f.service.Load(), e)
	answer := &invocation.Answer{StatusCode: http.StatusOK, Payload: []byte(out)}
	if failure == nil {
		return answer, nil
	}
	var err error
	answer.FunctionError = "Unhandled"
	answer.Payload, err = json.Marshal(map[string]string{"errorType": "Runtime.ExitError", "errorMessage": failure.Error()})
	return answer, err
}

func (f *functions) Resolve(s aws.Scope, name string) (durablefunctions.Version, error) {
	n, err := invocation.ParseName(name, "")
	if err != nil {
		return durablefunctions.Version{}, err
	}
	v := durablefunctions.Version{Scope: s, Function: n.Function, Number: "1", Qualified: n.Qualifier != ""}
	if !strings.HasPrefix(n.Function, "plain") {
		v.Timeout, v.Retention = 900, 1
	}
	return v, nil
}

// stored opens a journal on the disk, which has an index of executions.
func stored(t *testing.T) *pebble.Journal {
	t.Helper()
	j, err := pebble.Open(t.TempDir(), pebble.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// open opens a service over a journal.
func open(t *testing.T, j journal.Journal, c *clock.Clock, handlers map[string]handler) (*durablefunctions.Service, *functions) {
	t.Helper()
	f := &functions{handlers: handlers}
	s, err := durablefunctions.Open(t.Context(), durablefunctions.Options{Journal: j, Clock: c, Functions: f})
	if err != nil {
		t.Fatal(err)
	}
	f.service.Store(s)
	s.Resume()
	return s, f
}

func virtual(t *testing.T) *clock.Clock {
	t.Helper()
	c := clock.Virtual(began)
	t.Cleanup(c.Close)
	return c
}

// checkpoint sends updates, and stores the next token in the event.
func (e *event) checkpoint(ctx context.Context, s *durablefunctions.Service, updates string) error {
	c := &durable.Checkpoint{Token: e.CheckpointToken}
	if err := json.Unmarshal([]byte(updates), &c.Updates); err != nil {
		return err
	}
	state, err := s.Checkpoint(ctx, e.DurableExecutionArn, c)
	if err == nil {
		e.CheckpointToken = state.Token
	}
	return err
}

const suspended = `{"Status":"PENDING"}`

func types(events []history.Event) string {
	var b strings.Builder
	for i := range events {
		fmt.Fprintf(&b, "%s@%g ", events[i].Type, events[i].At().Sub(began).Seconds())
	}
	return strings.TrimSpace(b.String())
}

func request(input string) *invocation.Request {
	return &invocation.Request{FunctionName: "F:1", Payload: []byte(input)}
}

// retrying fails a step twice, and waits an hour between the attempts.
func retrying(ctx context.Context, s *durablefunctions.Service, e *event) (string, error) {
	o := e.of("s")
	if o.StepDetails.Attempt < 2 {
		err := e.checkpoint(ctx, s, `[{"Id":"s","Type":"STEP","Name":"charge","Action":"START"},
			{"Id":"s","Type":"STEP","Action":"RETRY","Error":{"ErrorType":"E"},"StepOptions":{"NextAttemptDelaySeconds":60}}]`)
		return suspended, err
	}
	err := e.checkpoint(ctx, s, `[{"Id":"s","Type":"STEP","Action":"START"},{"Id":"s","Type":"STEP","Action":"SUCCEED","Payload":"1"}]`)
	return `{"Status":"SUCCEEDED","Result":"\"paid\""}`, err
}

func TestAStepIsRetriedInVirtualTime(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	s, _ := open(t, journal.NewMemory(), c, map[string]handler{"F": retrying})
	defer s.Close()
	a, err := s.Invoke(t.Context(), version, request(`{"order":1}`))
	if err != nil || string(a.Payload) != `"paid"` || a.FunctionError != "" || a.StatusCode != http.StatusOK || a.ExecutedVersion != "1" {
		t.Fatalf("%+v, %v", a, err)
	}
	events, err := s.History(t.Context(), a.DurableExecutionARN)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := types(events), "ExecutionStarted@0 StepStarted@0 StepFailed@0 InvocationCompleted@0 "+
		"StepStarted@60 StepFailed@60 InvocationCompleted@60 "+
		"StepStarted@120 StepSucceeded@120 InvocationCompleted@120 ExecutionSucceeded@120"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	d, err := s.Describe(t.Context(), a.DurableExecutionARN, true)
	if err != nil || d.Status != "SUCCEEDED" || *d.Result != `"paid"` || *d.InputPayload != `{"order":1}` || d.Version != "1" ||
		d.FunctionArn != "arn:aws:lambda:us-east-1:000000000000:function:F:1" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestNamesAreIdempotent(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	s, f := open(t, journal.NewMemory(), c, map[string]handler{"F": func(context.Context, *durablefunctions.Service, *event) (string, error) {
		return `{"Status":"SUCCEEDED","Result":"1"}`, nil
	}})
	defer s.Close()
	in := request(`1`)
	in.DurableExecutionName = "order-7"
	first, err := s.Invoke(t.Context(), version, in)
	if err != nil || !strings.HasPrefix(first.DurableExecutionARN,
		"arn:aws:lambda:us-east-1:000000000000:function:F:1/durable-execution/order-7/") {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := s.Invoke(t.Context(), version, in)
	if err != nil || again.DurableExecutionARN != first.DurableExecutionARN || string(again.Payload) != "1" || f.calls.Load() != 1 {
		t.Errorf("%+v, %v; %d calls", again, err, f.calls.Load())
	}
	other := *in
	other.Payload = []byte(`2`)
	_, err = s.Invoke(t.Context(), version, &other)
	if e := (*aws.Error)(nil); !errors.As(err, &e) || e.Code != "DurableExecutionAlreadyStartedException" || e.Status != http.StatusConflict {
		t.Error(err)
	}
	var group sync.WaitGroup
	arns := make([]string, 8)
	for i := range arns {
		group.Go(func() {
			in := request(`3`)
			in.DurableExecutionName, in.Type = "all-at-once", invocation.Event
			a, err := s.Invoke(t.Context(), version, in)
			if err == nil {
				arns[i] = a.DurableExecutionARN
			}
		})
	}
	group.Wait()
	for _, arn := range arns {
		if arn == "" || arn != arns[0] {
			t.Errorf("%q started besides %q", arn, arns[0])
		}
	}
}

func TestInvocationsThatAWSRefuses(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	s, _ := open(t, journal.NewMemory(), c, nil)
	defer s.Close()
	long, loose := version, version
	long.Timeout, loose.Qualified = 901, false
	for want, try := range map[string]func() error{
		"You cannot invoke a durable function using an unqualified ARN.": func() error {
			_, err := s.Invoke(t.Context(), loose, request(`1`))
			return err
		},
		"You cannot synchronously invoke a durable function with an executionTimeout greater than 15 minutes.": func() error {
			_, err := s.Invoke(t.Context(), long, request(`1`))
			return err
		},
		"Could not parse request body into json: the payload is not valid JSON": func() error {
			_, err := s.Invoke(t.Context(), version, request(`{`))
			return err
		},
		"1048577 byte payload is too large for the Event invocation type (limit 1048576 bytes)": func() error {
			r := request(`"` + strings.Repeat("x", 1<<20-1) + `"`)
			r.Type = invocation.Event
			_, err := s.Invoke(t.Context(), version, r)
			return err
		},
		"Request must be smaller than 6291456 bytes for the InvokeFunction operation": func() error {
			_, err := s.Invoke(t.Context(), version, request(`"`+strings.Repeat("x", 6<<20)+`"`))
			return err
		},
		"Invalid callback ID.": func() error { return s.Complete(t.Context(), &durable.Callback{ID: "x"}) },
		"Durable execution not found: arn:aws:states:us-east-1:000000000000:execution:m:x": func() error {
			_, err := s.Describe(t.Context(), "arn:aws:states:us-east-1:000000000000:execution:m:x", true)
			return err
		},
		"Durable execution not found: none": func() error { _, err := s.Stop(t.Context(), "none", nil); return err },
	} {
		if e := (*aws.Error)(nil); !errors.As(try(), &e) || e.Message != want {
			t.Errorf("%v, want %s", try(), want)
		}
	}
	// A function that has been deleted fails its execution.
	a, err := s.Invoke(t.Context(), version, request(`1`))
	if err != nil || a.FunctionError != "Unhandled" ||
		string(a.Payload) != `{"errorMessage":"Function not found: F","errorType":"ResourceNotFoundException"}` {
		t.Errorf("%+v, %v", a, err)
	}
}

// waiting creates a callback and a wait, and returns what the callback was completed with.
func waiting(ctx context.Context, s *durablefunctions.Service, e *event) (string, error) {
	if e.of("c").Status == "" {
		err := e.checkpoint(ctx, s, `[{"Id":"c","Type":"CALLBACK","Action":"START"},
			{"Id":"w","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":100}}]`)
		return suspended, err
	}
	if e.of("c").Status != "SUCCEEDED" || e.of("w").Status != "SUCCEEDED" {
		return suspended, nil
	}
	result, err := json.Marshal(e.of("c").CallbackDetails.Result)
	return `{"Status":"SUCCEEDED","Result":` + string(result) + `}`, err
}

// callbackOf waits for the callback of an execution, and returns its ID.
func callbackOf(t *testing.T, s *durablefunctions.Service, arn string) string {
	t.Helper()
	for {
		page, err := s.HistoryPage(t.Context(), arn, &durablefunctions.HistoryRequest{Data: true})
		if err != nil {
			t.Fatal(err)
		}
		ended := false
		id := ""
		for _, text := range page.Events {
			var e struct {
				EventType              string
				CallbackStartedDetails struct {
					CallbackID string `json:"CallbackId"`
				}
			}
			if err := json.Unmarshal(text, &e); err != nil {
				t.Fatal(err)
			}
			ended = ended || e.EventType == "InvocationCompleted"
			if e.CallbackStartedDetails.CallbackID != "" {
				id = e.CallbackStartedDetails.CallbackID
			}
		}
		if ended {
			return id
		}
	}
}

// An execution waits for a callback and a timer. Its process ends; the next one on the same data continues it.
func TestAnExecutionContinuesAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := pebble.Open(dir, pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	held := clock.Virtual(began)
	held.Hold() // the wait does not end in this process
	s, _ := open(t, j, held, map[string]handler{"F": waiting})
	in := request(`1`)
	in.Type = invocation.Event
	a, err := s.Invoke(t.Context(), version, in)
	if err != nil || a.StatusCode != http.StatusAccepted {
		t.Fatalf("%+v, %v", a, err)
	}
	id := callbackOf(t, s, a.DurableExecutionARN)
	s.Close()
	held.Close()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	if j, err = pebble.Open(dir, pebble.Config{Retention: -1}); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	c := virtual(t)
	c.Hold()
	s, _ = open(t, j, c, map[string]handler{"F": waiting})
	defer s.Close()
	result := "approved"
	if err := s.Complete(t.Context(), &durable.Callback{ID: id,
		Outcome: durable.Outcome{Status: durable.Succeeded, Result: &result}}); err != nil {
		t.Fatal(err)
	}
	err = s.Complete(t.Context(), &durable.Callback{ID: id, Heartbeat: true})
	if e := (*aws.Error)(nil); !errors.As(err, &e) || e.Code != "CallbackTimeoutException" {
		t.Error(err)
	}
	c.Release()
	same := request(`1`)
	same.DurableExecutionName = nameIn(a.DurableExecutionARN)
	got, err := s.Invoke(t.Context(), version, same) // waits for the same execution
	if err != nil || string(got.Payload) != "approved" || got.DurableExecutionARN != a.DurableExecutionARN {
		t.Fatalf("%+v, %v", got, err)
	}
	events, err := s.History(t.Context(), a.DurableExecutionARN)
	if got, want := types(events), "ExecutionStarted@0 CallbackStarted@0 WaitStarted@0 InvocationCompleted@0 "+
		"CallbackSucceeded@0 InvocationCompleted@0 WaitSucceeded@100 InvocationCompleted@100 ExecutionSucceeded@100"; got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := j.Check(t.Context(), func(err error) { t.Error(err) }); err != nil {
		t.Error(err)
	}
}

func nameIn(arn string) string {
	parts := strings.Split(arn, "/")
	return parts[len(parts)-2]
}

// The process ends while the function runs: the next process invokes it again, and what it had checkpointed stays.
func TestAnInvocationThatIsLostIsRepeated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := pebble.Open(dir, pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	c := virtual(t)
	reached := make(chan struct{})
	s, _ := open(t, j, c, map[string]handler{"F": func(ctx context.Context, s *durablefunctions.Service, e *event) (string, error) {
		if err := e.checkpoint(ctx, s, `[{"Id":"s","Type":"STEP","Action":"START"},
			{"Id":"s","Type":"STEP","Action":"SUCCEED","Payload":"7"},{"Id":"n","Type":"STEP","Action":"START"}]`); err != nil {
			return "", err
		}
		close(reached)
		<-ctx.Done()
		return "", ctx.Err()
	}})
	in := request(`1`)
	in.Type, in.DurableExecutionName = invocation.Event, "x"
	if _, err := s.Invoke(t.Context(), version, in); err != nil {
		t.Fatal(err)
	}
	<-reached
	s.Close()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, err = pebble.Open(dir, pebble.Config{Retention: -1}); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s, _ = open(t, j, c, map[string]handler{"F": func(_ context.Context, _ *durablefunctions.Service, e *event) (string, error) {
		return fmt.Sprintf(`{"Status":"SUCCEEDED","Result":"%s %s %s"}`, e.of("s").StepDetails.Result, e.of("s").Status, e.of("n").Status), nil
	}})
	defer s.Close()
	in.Type = ""
	a, err := s.Invoke(t.Context(), version, in)
	if err != nil || string(a.Payload) != "7 SUCCEEDED STARTED" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestFunctionsAreChained(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	chain := func(ctx context.Context, s *durablefunctions.Service, e *event) (string, error) {
		if e.of("a").Status == "" {
			err := e.checkpoint(ctx, s, `[
				{"Id":"a","Type":"CHAINED_INVOKE","Action":"START","Payload":"1","ChainedInvokeOptions":{"FunctionName":"plain"}},
				{"Id":"b","Type":"CHAINED_INVOKE","Action":"START","Payload":"2","ChainedInvokeOptions":{"FunctionName":"G:1"}},
				{"Id":"c","Type":"CHAINED_INVOKE","Action":"START","Payload":"3","ChainedInvokeOptions":{"FunctionName":"G"}},
				{"Id":"d","Type":"CHAINED_INVOKE","Action":"START","ChainedInvokeOptions":{"FunctionName":"plainly-not-there"}}]`)
			return suspended, err
		}
		said := []string{}
		for _, id := range []string{"a", "b", "c", "d"} {
			o := e.of(id)
			switch {
			case o.Status == "STARTED":
				return suspended, nil
			case o.ChainedInvokeDetails.Error != nil:
				said = append(said, o.Status+" "+*o.ChainedInvokeDetails.Error.ErrorMessage)
			default:
				said = append(said, o.Status+" "+o.ChainedInvokeDetails.Result)
			}
		}
		result, err := json.Marshal(strings.Join(said, "; "))
		return `{"Status":"SUCCEEDED","Result":` + string(result) + `}`, err
	}
	s, _ := open(t, journal.NewMemory(), c, map[string]handler{"F": chain, "G": retrying,
		"plain": func(context.Context, *durablefunctions.Service, *event) (string, error) { return `"plain"`, nil }})
	defer s.Close()
	a, err := s.Invoke(t.Context(), version, request(`1`))
	const want = `SUCCEEDED "plain"; SUCCEEDED "paid"; FAILED You cannot invoke a durable function using an unqualified ARN.; ` +
		`FAILED Function not found: plainly-not-there`
	if err != nil || string(a.Payload) != want {
		t.Errorf("%s, %v", a.Payload, err)
	}
}

func TestAnEndedExecutionIsForgottenAfterItsRetention(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	s, _ := open(t, journal.NewMemory(), c, map[string]handler{"F": func(context.Context, *durablefunctions.Service, *event) (string, error) {
		return `{"Status":"FAILED","Error":{"ErrorType":"E","ErrorMessage":"m"}}`, nil
	}})
	defer s.Close()
	a, err := s.Invoke(t.Context(), version, request(`1`))
	if err != nil || a.FunctionError != "Unhandled" || string(a.Payload) != `{"errorMessage":"m","errorType":"E"}` {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := s.Describe(t.Context(), a.DurableExecutionARN, true); err != nil {
		t.Error(err)
	}
	c.Hold()
	if err := c.Sleep(t.Context(), 25*time.Hour); err != nil {
		t.Fatal(err)
	}
	c.Release()
	if _, err := s.Describe(t.Context(), a.DurableExecutionARN, true); err == nil {
		t.Error("it is still there")
	}
}

// A function with more operations than fit into an event reads the rest page by page.
func TestStateIsRead(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	read := func(ctx context.Context, s *durablefunctions.Service, e *event) (string, error) {
		if e.of("0").Status != "" {
			n := len(e.InitialExecutionState.Operations)
			for marker := e.InitialExecutionState.NextMarker; marker != ""; {
				page, err := s.State(ctx, e.DurableExecutionArn, e.CheckpointToken, marker, 0)
				if err != nil {
					return "", err
				}
				n += len(page.Operations)
				marker = page.Marker
			}
			if _, err := s.State(ctx, e.DurableExecutionArn, "eA==", "", 0); err == nil {
				return "", errors.New("state was read with a token of somebody else")
			}
			return fmt.Sprintf(`{"Status":"SUCCEEDED","Result":"%d"}`, n), nil
		}
		big := strings.Repeat("x", 200<<10)
		for i := range 40 { // 8 MB
			if err := e.checkpoint(ctx, s, fmt.Sprintf(`[{"Id":"%d","Type":"STEP","Action":"START"},
				{"Id":"%d","Type":"STEP","Action":"SUCCEED","Payload":"%s"}]`, i, i, big)); err != nil {
				return "", err
			}
		}
		err := e.checkpoint(ctx, s, `[{"Id":"w","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":1}}]`)
		return suspended, err
	}
	s, _ := open(t, journal.NewMemory(), c, map[string]handler{"F": read})
	defer s.Close()
	a, err := s.Invoke(t.Context(), version, request(`1`))
	if err != nil || string(a.Payload) != "42" { // 40 steps, the wait and the execution
		t.Errorf("%+v, %v", a, err)
	}
}

// mailbox is a Destinations that stores what it accepts.
type mailbox struct {
	mu       sync.Mutex
	refusing int // number of results to refuse first; below 0 means all
	accepted []*durablefunctions.Ended
	tried    chan struct{}
}

func (m *mailbox) Expects(_ durablefunctions.Version, status string) bool {
	return status == durable.Failed
}

func (m *mailbox) Send(_ context.Context, e *durablefunctions.Ended) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tried != nil {
		close(m.tried)
		m.tried = nil
	}
	if m.refusing != 0 {
		m.refusing--
		return errors.New("the queue is full")
	}
	m.accepted = append(m.accepted, e)
	return nil
}

func (m *mailbox) received() []*durablefunctions.Ended {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.accepted
}

// failing is a durable function that fails.
func failing(context.Context, *durablefunctions.Service, *event) (string, error) {
	return `{"Status":"FAILED","Error":{"ErrorType":"Declined"}}`, nil
}

// openWith opens a service with destinations over a journal.
func openWith(t *testing.T, j journal.Journal, c *clock.Clock, m *mailbox) *durablefunctions.Service {
	t.Helper()
	f := &functions{handlers: map[string]handler{"F": failing}}
	s, err := durablefunctions.Open(t.Context(), durablefunctions.Options{Journal: j, Clock: c, Functions: f,
		Destinations: m, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	f.service.Store(s)
	s.Resume()
	return s
}

// An execution fails, and its process ends before a destination has accepted the result. The next process on the same
// data sends it, and the one after that does not send it again.
func TestTheResultReachesItsDestinationAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := request(`{"order":7}`)
	in.Type = invocation.Event
	var arn string
	for process, m := range []*mailbox{{refusing: -1, tried: make(chan struct{})}, {}, {}} {
		j, err := pebble.Open(dir, pebble.Config{Retention: -1})
		if err != nil {
			t.Fatal(err)
		}
		c := clock.Virtual(began)
		tried := m.tried
		s := openWith(t, j, c, m)
		switch process {
		case 0:
			a, err := s.Invoke(t.Context(), version, in)
			if err != nil {
				t.Fatal(err)
			}
			arn = a.DurableExecutionARN
			<-tried
			d, err := s.Describe(t.Context(), arn, true)
			if err != nil || d.Status != "FAILED" || *d.Error.ErrorType != "Declined" {
				t.Errorf("before its destination: %+v, %v", d, err)
			}
			stopped, err := s.Stop(t.Context(), arn, nil)
			if err != nil || stopped.IsZero() {
				t.Errorf("stopped at %v, %v", stopped, err)
			}
		case 1:
			sync := request(`{"order":7}`) // waits for the end, which is on disk once the result is accepted
			_, name, _ := strings.Cut(arn, "/durable-execution/")
			sync.DurableExecutionName, _, _ = strings.Cut(name, "/")
			a, err := s.Invoke(t.Context(), version, sync)
			if err != nil || a.DurableExecutionARN != arn || string(a.Payload) != `{"errorType":"Declined"}` {
				t.Errorf("%+v, %v", a, err)
			}
			if got := m.received(); len(got) != 1 || got[0].ARN != arn || got[0].Status != "FAILED" ||
				*got[0].Error.ErrorType != "Declined" || got[0].Input != `{"order":7}` || got[0].Version.Number != "1" {
				t.Errorf("%+v", got)
			}
		}
		events, err := s.History(t.Context(), arn)
		if err != nil || types(events) != "ExecutionStarted@0 InvocationCompleted@0 ExecutionFailed@0" {
			t.Errorf("process %d: %s, %v", process, types(events), err)
		}
		if n := len(s.Running()); process == 2 && (n != 0 || len(m.received()) != 0) {
			t.Errorf("%d executions left, %+v sent", n, m.received())
		}
		s.Close()
		c.Close()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A destination that refuses a result gets it again, until it accepts it.
func TestADestinationThatIsFull(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	m := &mailbox{refusing: 3}
	s := openWith(t, journal.NewMemory(), c, m)
	defer s.Close()
	in := request(`1`)
	in.Type, in.DurableExecutionName = invocation.Event, "full"
	a, err := s.Invoke(t.Context(), version, in)
	if err != nil {
		t.Fatal(err)
	}
	in.Type = invocation.RequestResponse
	if again, err := s.Invoke(t.Context(), version, in); err != nil || again.DurableExecutionARN !=
		a.DurableExecutionARN {
		t.Errorf("%+v, %v", again, err)
	}
	if got := m.received(); len(got) != 1 || c.Now().Sub(began) != 7*time.Second { // after 1, 2 and 4 seconds
		t.Errorf("%d results after %v", len(got), c.Now().Sub(began))
	}
}
