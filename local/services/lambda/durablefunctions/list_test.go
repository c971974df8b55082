package durablefunctions_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stepback/engine/durable"
	"stepback/engine/journal"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/tasks/lambda/invocation"
)

func TestExecutionsAreListedAndStopped(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	c.Hold()
	s, _ := open(t, journal.NewMemory(), c, map[string]handler{"F": waiting})
	defer s.Close()
	arns := []string{}
	for i := range 5 {
		in := request(`1`)
		in.Type, in.DurableExecutionName = invocation.Event, fmt.Sprint("n", i)
		a, err := s.Invoke(t.Context(), version, in)
		if err != nil {
			t.Fatal(err)
		}
		arns = append(arns, a.DurableExecutionARN)
		callbackOf(t, s, a.DurableExecutionARN)
	}
	at, err := s.Stop(t.Context(), arns[1], durable.NewError("Mine", "enough"))
	if err != nil || !at.Equal(began) {
		t.Error(at, err)
	}
	d, err := s.Describe(t.Context(), arns[1], true)
	if err != nil || d.Status != "STOPPED" || *d.Error.ErrorMessage != "enough" {
		t.Errorf("%+v, %v", d, err)
	}
	if n := s.Running()[scope]; n != 4 {
		t.Errorf("%d run", n)
	}
	f := durablefunctions.Filter{Function: "arn:aws:lambda:us-east-1:000000000000:function:F", Items: 3}
	count := func(f durablefunctions.Filter) int {
		list, _, err := s.List(t.Context(), &f)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	page, marker, err := s.List(t.Context(), &f)
	if err != nil || len(page) != 3 || marker == "" {
		t.Fatalf("%d %q %v", len(page), marker, err)
	}
	f.Marker = marker
	if rest, marker, err := s.List(t.Context(), &f); err != nil || len(rest) != 2 || marker != "" {
		t.Errorf("%d %q %v", len(rest), marker, err)
	}
	for _, oldest := range []bool{false, true} { // each is on one page, whatever starts between them
		seen := map[string]int{}
		f := durablefunctions.Filter{Function: f.Function, Items: 2, Oldest: oldest, Before: began.Add(time.Second)}
		for first := true; first || f.Marker != ""; first = false {
			page, marker, err := s.List(t.Context(), &f)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page {
				seen[d.DurableExecutionName]++
			}
			f.Marker = marker
		}
		for name, n := range seen {
			if n != 1 {
				t.Errorf("oldest first is %v: %s is on %d pages", oldest, name, n)
			}
		}
		if len(seen) != 5 {
			t.Errorf("oldest first is %v: %v", oldest, seen)
		}
	}
	if _, _, err := s.List(t.Context(), &durablefunctions.Filter{Function: f.Function, Marker: "3"}); !strings.Contains(fmt.Sprint(err), "Invalid marker") {
		t.Error(err)
	}
	f.Marker = ""
	for want, of := range map[int]durablefunctions.Filter{
		1: {Function: f.Function, Statuses: []string{"STOPPED", "FAILED"}},
		4: {Function: f.Function, Version: "1", Statuses: []string{"RUNNING"}},
		0: {Function: f.Function, Version: "2"},
		5: {Function: f.Function, Before: began.Add(time.Second), Oldest: true},
	} {
		if got := count(of); got != want {
			t.Errorf("%+v: %d", of, got)
		}
	}
	if got := count(durablefunctions.Filter{Function: f.Function, Name: "n3"}); got != 1 {
		t.Error(got)
	}
}

// Executions that retry are listed with their steps, newest first and page by page, and after a restart as well.
func TestRetriesAreListed(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	c.Hold()
	defer c.Release()
	j := stored(t)
	handlers := map[string]handler{"F": func(ctx context.Context, s *durablefunctions.Service, e *event) (string, error) {
		if e.of("s").ID != "" { // the service was closed before the first invocation returned
			return suspended, nil
		}
		state, err := s.Checkpoint(ctx, e.DurableExecutionArn, &durable.Checkpoint{Token: e.CheckpointToken,
			Updates: []durable.Update{
				{Id: "s", Type: "STEP", Name: "charge", Action: "START"},
				{Id: "s", Type: "STEP", Action: "RETRY", Error: durable.NewError("Declined", "no"), StepOptions: &durable.StepOptions{NextAttemptDelaySeconds: 60}},
			}})
		if err != nil || state == nil {
			return "", err
		}
		return `{"Status":"PENDING"}`, nil
	}}
	s, _ := open(t, j, c, handlers)
	for i := range 3 {
		r := request(`1`)
		r.Type, r.DurableExecutionName = invocation.Event, fmt.Sprint("n", i)
		if _, err := s.Invoke(t.Context(), version, r); err != nil {
			t.Fatal(err)
		}
	}
	q := durablefunctions.Query{Of: "arn:aws:lambda:us-east-1:000000000000:", Retrying: true, Error: "Declined"}
	all := func() (names []string) {
		t.Helper()
		token := ""
		for {
			page, next, err := s.Page(t.Context(), q, 2, token)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range page {
				names = append(names, l.Name)
				want := durablefunctions.Retry{Operation: "s", Name: "charge", Type: durable.TypeStep, Error: "Declined", Attempt: 2, Failed: l.Retries[0].Failed,
					Next: l.Retries[0].Failed.Add(time.Minute)}
				if l.Status() != "RUNNING" || len(l.Retries) != 1 || l.Retries[0] != want {
					t.Errorf("%+v", l)
				}
			}
			if token = next; token == "" {
				return names
			}
		}
	}
	for len(all()) < 3 {
		runtime.Gosched()
	}
	s.Close()
	s, _ = open(t, j, c, handlers)
	defer s.Close()
	names := all()
	slices.Sort(names)
	if !slices.Equal(names, []string{"n0", "n1", "n2"}) {
		t.Errorf("after a restart: %v", names)
	}
	for _, other := range []durablefunctions.Query{{Of: q.Of, Retrying: true, Error: "Other"}, {Of: "arn:aws:lambda:us-east-1:111111111111:", Retrying: true},
		{Of: q.Of + "function:G", Retrying: true}} {
		if page, _, err := s.Page(t.Context(), other, 2, ""); err != nil || len(page) != 0 {
			t.Errorf("%+v: %+v, %v", other, page, err)
		}
	}
}

// A function whose code is broken in the middle of an execution is listed among the retries with the error of its
// invocation, after a restart as well, and is invoked again on request.
func TestBrokenCodeIsListed(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	c.Hold()
	defer c.Release()
	j := stored(t)
	var mended atomic.Bool
	handlers := map[string]handler{"F": func(context.Context, *durablefunctions.Service, *event) (string, error) {
		if mended.Load() {
			return `{"Status":"SUCCEEDED","Result":"1"}`, nil
		}
		return "", errors.New("Unexpected token")
	}}
	s, _ := open(t, j, c, handlers)
	r := request(`1`)
	r.Type = invocation.Event
	a, err := s.Invoke(t.Context(), version, r)
	if err != nil {
		t.Fatal(err)
	}
	arn := a.DurableExecutionARN
	_, id, _ := strings.Cut(arn, "/durable-execution/")
	_, id, _ = strings.Cut(id, "/")
	want := durablefunctions.Retry{Operation: id, Name: "invocation", Type: durable.TypeExecution, Error: "Runtime.ExitError",
		Attempt: 2, Failed: began, Next: began.Add(time.Second)}
	listed := func() {
		t.Helper()
		q := durablefunctions.Query{Of: "arn:aws:lambda:us-east-1:000000000000:function:F", Retrying: true, Error: "Runtime.ExitError"}
		for t.Context().Err() == nil {
			page, _, err := s.Page(t.Context(), q, 2, "")
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 1 {
				if l := page[0]; l.ARN != arn || len(l.Retries) != 1 || l.Retries[0] != want {
					t.Errorf("%+v", l)
				}
				return
			}
			runtime.Gosched()
		}
	}
	listed()
	s.Close()
	s, _ = open(t, j, c, handlers)
	defer s.Close()
	listed()
	mended.Store(true)
	if err := s.RetryNow(t.Context(), arn, id); err != nil {
		t.Fatal(err)
	}
	for status := ""; status != "SUCCEEDED" && t.Context().Err() == nil; runtime.Gosched() {
		d, err := s.Describe(t.Context(), arn, false)
		if err != nil {
			t.Fatal(err)
		}
		status = d.Status
	}
	events, err := s.History(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := types(events), "ExecutionStarted@0 InvocationCompleted@0 InvocationCompleted@0 ExecutionSucceeded@0"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
