package durablefunctions_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/tasks/lambda/invocation"
)

// restarted is a service on the journal of an earlier process.
type restarted struct {
	*durablefunctions.Service
	calls   *functions
	resumed chan error // receives what Options.Resumed is called with

	mu        sync.Mutex
	recovered map[string]int // calls of Options.Recovered, by ARN
}

func restart(t *testing.T, j journal.Journal, c *clock.Clock, m *mailbox, handlers map[string]handler) *restarted {
	t.Helper()
	r := &restarted{calls: &functions{handlers: handlers}, resumed: make(chan error, 1), recovered: map[string]int{}}
	o := durablefunctions.Options{Journal: j, Clock: c, Functions: r.calls,
		Resumed: func(err error) { r.resumed <- err },
		Recovered: func(x *journal.Execution, _ []history.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.recovered[x.ARN]++
		}}
	if m != nil {
		o.Destinations = m
	}
	var err error
	if r.Service, err = durablefunctions.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r.calls.service.Store(r.Service)
	t.Cleanup(r.Close)
	return r
}

// leftBehind starts executions of functions in a process of its own, waits until they are suspended, and returns their
// ARNs. Their names are those of their functions, and a number.
func leftBehind(t *testing.T, j journal.Journal, handlers map[string]handler, names ...string) (arns []string) {
	t.Helper()
	c := clock.Virtual(began)
	defer c.Close()
	c.Hold()
	m := &mailbox{refusing: -1}
	s := restart(t, j, c, m, handlers)
	s.Resume()
	defer s.Close()
	for _, name := range names {
		v := version
		v.Function, _, _ = strings.Cut(name, "-")
		in := &invocation.Request{FunctionName: v.Function + ":1", Payload: []byte(`1`), Type: invocation.Event,
			DurableExecutionName: name}
		a, err := s.Invoke(t.Context(), v, in)
		if err != nil {
			t.Fatal(err)
		}
		arns = append(arns, a.DurableExecutionARN)
		callbackOf(t, s.Service, a.DurableExecutionARN) // waits until the invocation has ended
	}
	return arns
}

// suspendedOfAllKinds has functions that wait for a callback and a timer (Callback, Other), retry a step (Retry), and
// fail with a result for a destination (Fail).
var suspendedOfAllKinds = map[string]handler{"Callback": waiting, "Other": waiting, "Retry": retrying, "Fail": failing}

// TestRequestsDuringTheRecovery sends requests about executions that have not been recovered.
func TestRequestsDuringTheRecovery(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	arns := leftBehind(t, kept, suspendedOfAllKinds, "Callback-0", "Callback-1", "Fail-0", "Other-0", "Other-1", "Retry-0",
		"Retry-1")
	slices.Sort(arns)
	arn := map[string]string{}
	for _, one := range arns {
		arn[nameIn(one)] = one
	}
	j := journaltest.NewGated(kept, ":lambda:")
	c := virtual(t)
	m := &mailbox{}
	s := restart(t, j, c, m, suspendedOfAllKinds)
	ctx := t.Context()
	if d, err := s.Describe(ctx, arn["Other-1"], true); err != nil || d.Status != "RUNNING" || !s.Recovering() {
		t.Errorf("before Resume: %+v, %v", d, err)
	}
	s.Resume()

	if d, err := s.Describe(ctx, arn["Fail-0"], true); err != nil || d.Status != "FAILED" {
		t.Errorf("one that owes its result: %+v, %v", d, err)
	}
	if events, err := s.History(ctx, arn["Callback-1"]); err != nil ||
		types(events) != "ExecutionStarted@0 CallbackStarted@0 WaitStarted@0 InvocationCompleted@0" {
		t.Errorf("%s, %v", types(events), err)
	}
	result := "approved"
	done := &durable.Callback{ID: callbackOf(t, s.Service, arn["Callback-1"]),
		Outcome: durable.Outcome{Status: durable.Succeeded, Result: &result}}
	if err := s.Complete(ctx, done); err != nil {
		t.Error(err)
	}
	if err := s.Complete(ctx, done); !strings.Contains(fmt.Sprint(err), "already been completed") {
		t.Errorf("the callback, again: %v", err)
	}
	if at, err := s.Stop(ctx, arn["Other-0"], nil); err != nil || !at.Equal(began) {
		t.Errorf("stopped at %v, %v", at, err)
	}
	if err := s.Complete(ctx, &durable.Callback{ID: callbackOf(t, s.Service, arn["Other-0"])}); !strings.Contains(
		fmt.Sprint(err), "has ended") {
		t.Errorf("a callback of an execution that was stopped: %v", err)
	}
	retries, err := s.Retries(ctx, arn["Retry-0"])
	if err != nil || len(retries) != 1 || retries[0].Name != "charge" {
		t.Errorf("%+v, %v", retries, err)
	}
	if err := s.RetryNow(ctx, arn["Retry-0"], "s"); err != nil {
		t.Error(err)
	}
	page, _, err := s.Page(ctx, durablefunctions.Query{Of: "arn:aws:lambda:us-east-1:000000000000:", Statuses: []string{"RUNNING"}}, 10, "")
	retrying := 0
	for i := range page {
		retrying += len(page[i].Retries)
	}
	if err != nil || len(page) < 4 || retrying == 0 {
		t.Errorf("%d listed with %d retries, %v", len(page), retrying, err)
	}
	if _, err := s.History(ctx, arn["Other-1"]+"x"); !strings.Contains(fmt.Sprint(err), "not found") {
		t.Errorf("one that does not exist: %v", err)
	}
	same := version
	same.Function = "Callback"
	again := &invocation.Request{FunctionName: "Callback:1", Payload: []byte(`1`), Type: invocation.Event, DurableExecutionName: "Callback-0"}
	if a, err := s.Invoke(ctx, same, again); err != nil || a.DurableExecutionARN != arn["Callback-0"] {
		t.Errorf("the same start again: %+v, %v", a, err)
	}

	// These wait for the end of the recovery.
	impatient, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.AwaitRecovery(impatient); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, err := s.Page(impatient, durablefunctions.Query{Of: "arn:aws:lambda:us-east-1:000000000000:", Retrying: true}, 10,
		""); !errors.Is(err, context.Canceled) {
		t.Errorf("a list of retries: %v", err)
	}
	if now := c.Now(); !now.Equal(began) {
		t.Errorf("it is %v", now)
	}

	j.Open()
	if err := errors.Join(<-s.resumed, s.AwaitRecovery(ctx)); err != nil || s.Recovering() {
		t.Error(err)
	}
	for _, name := range []string{"Retry-0", "Retry-1", "Callback-1"} {
		v := version
		v.Function, _, _ = strings.Cut(name, "-")
		a, err := s.Invoke(ctx, v, &invocation.Request{FunctionName: v.Function + ":1", Payload: []byte(`1`), DurableExecutionName: name})
		if err != nil || a.FunctionError != "" || a.DurableExecutionARN != arn[name] {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	if got := m.received(); len(got) != 1 || got[0].ARN != arn["Fail-0"] {
		t.Errorf("sent to destinations: %+v", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range arns {
		if s.recovered[one] != 1 {
			t.Errorf("%s was recovered %d times", one, s.recovered[one])
		}
	}
}

// TestTheRecoveryRacesWithRequests recovers executions while requests about them arrive in the opposite order. Each of
// them continues once.
func TestTheRecoveryRacesWithRequests(t *testing.T) {
	t.Parallel()
	const n = 200
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("Other-%03d", i)
	}
	kept := journal.NewMemory()
	arns := leftBehind(t, kept, suspendedOfAllKinds, names...)
	slices.Sort(arns)
	c := virtual(t)
	c.Hold()
	s := restart(t, kept, c, nil, suspendedOfAllKinds)
	var requests sync.WaitGroup
	for range 2 { // the same request twice at a time
		requests.Go(func() {
			for _, arn := range slices.Backward(arns) {
				if _, err := s.Stop(t.Context(), arn, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	s.Resume()
	requests.Wait()
	if err := s.AwaitRecovery(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Running()); n != 0 || s.calls.calls.Load() != 0 {
		t.Errorf("%d run, and the function was invoked %d times", n, s.calls.calls.Load())
	}
	for _, arn := range arns {
		events, err := s.History(t.Context(), arn)
		if err != nil || len(events) != 5 || events[4].Type != history.ExecutionAborted || s.recovered[arn] != 1 {
			t.Errorf("%s: %s, recovered %d times, %v", arn, types(events), s.recovered[arn], err)
		}
	}
}

// TestCloseDuringTheRecovery closes a service in the middle of its recovery, and one before Resume. Virtual time can
// pass again, and the next service recovers everything.
func TestCloseDuringTheRecovery(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	arns := leftBehind(t, kept, suspendedOfAllKinds, "Other-0", "Other-1", "Retry-0")
	for _, resume := range []bool{false, true} {
		c := virtual(t)
		s := restart(t, journaltest.NewGated(kept, ":lambda:"), c, nil, suspendedOfAllKinds)
		if resume {
			s.Resume()
		}
		s.Close()
		if err := s.AwaitRecovery(t.Context()); err == nil || len(s.resumed) != 0 {
			t.Errorf("the recovery ended with %v", err)
		}
		if _, err := s.Stop(t.Context(), arns[1], nil); err == nil {
			t.Error("a service that is closed stops an execution")
		}
		rang := make(chan struct{})
		c.Schedule(began.Add(time.Second), clock.AlarmFunc(func() { close(rang) }))
		<-rang
	}
	s := restart(t, kept, virtual(t), nil, suspendedOfAllKinds)
	s.Resume()
	if err := <-s.resumed; err != nil {
		t.Fatal(err)
	}
	for _, arn := range arns {
		if s.recovered[arn] != 1 {
			t.Errorf("%s was recovered %d times", arn, s.recovered[arn])
		}
	}
}

// TestAJournalThatCannotBeRead fails in the middle of a recovery. Requests about executions that it has not reached
// are refused, instead of being answered that there are none.
func TestAJournalThatCannotBeRead(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	arns := leftBehind(t, kept, suspendedOfAllKinds, "Other-0", "Other-1")
	slices.Sort(arns)
	unreadable := errors.New("the disk is gone")
	j := journaltest.NewGated(kept, ":lambda:")
	j.Err = unreadable
	j.Open()
	s := restart(t, j, virtual(t), nil, suspendedOfAllKinds)
	s.Resume()
	for what, err := range map[string]error{
		"Options.Resumed": <-s.resumed,
		"AwaitRecovery":   s.AwaitRecovery(t.Context()),
		"History":         second(s.History(t.Context(), arns[1])),
		"Stop":            second(s.Stop(t.Context(), arns[1], nil)),
	} {
		if !errors.Is(err, unreadable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if d, err := s.Describe(t.Context(), arns[0], true); err != nil || d.Status != "RUNNING" || !s.Recovering() {
		t.Errorf("the one that was recovered: %+v, %v", d, err)
	}
	_, err := durablefunctions.Open(t.Context(),
		durablefunctions.Options{Journal: broken{kept, unreadable}, Clock: virtual(t)})
	if !errors.Is(err, unreadable) {
		t.Errorf("opened: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// broken is a journal whose unfinished executions cannot be read.
type broken struct {
	journal.Journal
	err error
}

func (b broken) Unfinished(context.Context, string) iter.Seq2[*journal.Unfinished, error] {
	return func(yield func(*journal.Unfinished, error) bool) { yield(nil, b.err) }
}
