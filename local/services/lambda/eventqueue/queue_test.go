package eventqueue_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/lambda/eventqueue"
	"stepback/local/services/lanes"
	"stepback/tasks/lambda/invocation"
)

var (
	epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	home  = aws.Scope{Account: "000000000000", Region: "us-east-1"}
)

// function records when the queue invokes it and reports ends to it.
type function struct {
	clock *clock.Clock
	// answer returns the response of an attempt, by its number from 1.
	answer func(e *eventqueue.Event, attempt int) (*invocation.Answer, error)
	// tell returns the result of a notification, by its number from 1; nil means that it succeeds.
	tell func(times int) error

	mu       sync.Mutex
	attempts map[string]int
	began    []string // payloads
	times    []string // since the epoch
	told     int
	ended    chan *eventqueue.Event
}

func (f *function) invoke(_ context.Context, e *eventqueue.Event) (*invocation.Answer, error) {
	f.mu.Lock()
	if f.attempts == nil {
		f.attempts = map[string]int{}
	}
	f.attempts[e.ID]++
	n := f.attempts[e.ID]
	f.began = append(f.began, string(e.Payload))
	f.times = append(f.times, f.clock.Now().Sub(epoch).Round(time.Second).String())
	f.mu.Unlock()
	return f.answer(e, n)
}

func (f *function) tells(ctx context.Context, e *eventqueue.Event) error {
	f.mu.Lock()
	f.told++
	n := f.told
	f.mu.Unlock()
	if f.tell != nil {
		if err := f.tell(n); err != nil {
			return err
		}
	}
	select {
	case f.ended <- e:
		return nil
	case <-ctx.Done(): // the test receives no more ends
		return ctx.Err()
	}
}

// open opens a queue on a file system that invokes f.
func open(t *testing.T, disk vfs.FS, f *function, o eventqueue.Options) *eventqueue.Queue {
	t.Helper()
	store, err := documents.Open("/documents", disk)
	if err != nil {
		t.Fatal(err)
	}
	f.clock = clock.Virtual(epoch)
	if f.ended == nil {
		f.ended = make(chan *eventqueue.Event, 1000)
	}
	o.Store, o.Clock, o.Invoke, o.Tell = store, f.clock, f.invoke, f.tells
	q, err := eventqueue.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		q.Close()
		f.clock.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return q
}

func event(payload string) *eventqueue.Event {
	return &eventqueue.Event{Scope: home, Function: "F", Version: "$LATEST", Payload: []byte(payload),
		Handling: eventqueue.Handling{Retries: 2, MaxAge: eventqueue.DefaultMaxAge.Milliseconds(), ARN: "arn"}}
}

var (
	good      = &invocation.Answer{StatusCode: 200, Payload: []byte("1")}
	bad       = &invocation.Answer{StatusCode: 200, FunctionError: "Unhandled", Payload: []byte(`{"errorMessage":"no"}`)}
	throttled = &aws.Error{Code: "TooManyRequestsException", Status: http.StatusTooManyRequests}
	broken    = &aws.Error{Code: "ServiceException", Status: http.StatusInternalServerError}
	missing   = &aws.Error{Code: "ResourceNotFoundException", Status: http.StatusNotFound}
)

func TestAnEventEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers   []any // responses or errors; the last one repeats
		retries   int
		age       time.Duration
		condition eventqueue.Condition
		attempts  int
		times     []string
	}{
		"well":                   {[]any{good}, 2, 0, eventqueue.Success, 1, []string{"0s"}},
		"well the third time":    {[]any{bad, bad, good}, 2, 0, eventqueue.Success, 3, []string{"0s", "1m0s", "3m0s"}},
		"badly three times":      {[]any{bad}, 2, 0, eventqueue.RetriesExhausted, 3, []string{"0s", "1m0s", "3m0s"}},
		"badly twice":            {[]any{bad}, 1, 0, eventqueue.RetriesExhausted, 2, []string{"0s", "1m0s"}},
		"badly, without a retry": {[]any{bad}, 0, 0, eventqueue.RetriesExhausted, 1, []string{"0s"}},
		"too old for a second retry": {[]any{bad}, 2, 2 * time.Minute, eventqueue.EventAgeExceeded, 2,
			[]string{"0s", "1m0s"}},
		"throttled and then well": {[]any{throttled, throttled, good}, 0, 0, eventqueue.Success, 1,
			[]string{"0s", "1s", "3s"}},
		"throttled too long": {[]any{throttled}, 0, time.Minute, eventqueue.EventAgeExceeded, 0,
			[]string{"0s", "1s", "3s", "7s", "15s", "31s"}},
		"after the service failed": {[]any{broken, good}, 0, 0, eventqueue.Success, 1, []string{"0s", "1s"}},
		"where the function may not run": {[]any{eventqueue.ErrPaused}, 2, 0, eventqueue.ZeroReservedConcurrency, 0,
			[]string{"0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{answer: func(_ *eventqueue.Event, n int) (*invocation.Answer, error) {
				switch a := c.answers[min(n, len(c.answers))-1].(type) {
				case *invocation.Answer:
					return a, nil
				case error:
					return nil, a
				}
				return nil, errors.ErrUnsupported
			}}
			q := open(t, vfs.NewMem(), f, eventqueue.Options{})
			e := event(`{"a":1}`)
			e.Retries = c.retries
			if c.age > 0 {
				e.MaxAge = c.age.Milliseconds()
			}
			if err := q.Accept(e); err != nil {
				t.Fatal(err)
			}
			got := <-f.ended
			q.Close()
			if got.ID != e.ID || got.End.Condition != c.condition || got.Attempts != c.attempts ||
				string(got.Payload) != `{"a":1}` || (got.End.Answer != nil) != (c.attempts > 0) {
				t.Errorf("%+v, %+v", got, got.End)
			}
			if !slices.Equal(f.times, c.times) {
				t.Errorf("attempts at %v, want %v", f.times, c.times)
			}
			if n := q.Pending(); n != 0 {
				t.Errorf("%d are pending", n)
			}
		})
	}
}

func TestTheEndIsToldUntilItIsKnown(t *testing.T) {
	t.Parallel()
	f := &function{answer: func(*eventqueue.Event, int) (*invocation.Answer, error) { return good, nil },
		tell: func(times int) error {
			if times < 4 {
				return broken
			}
			return nil
		}}
	q := open(t, vfs.NewMem(), f, eventqueue.Options{})
	if err := q.Accept(event(`1`)); err != nil {
		t.Fatal(err)
	}
	got := <-f.ended
	now := f.clock.Now().Sub(epoch)
	q.Close()
	if now != 7*time.Second || string(got.End.Answer.Payload) != "1" || string(got.Payload) != "1" || len(f.began) != 1 {
		t.Errorf("told after %s: %+v; %d invocations", now, got.End, len(f.began))
	}
}

func TestAnEventWithoutAFunctionIsDropped(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	f := &function{answer: func(e *eventqueue.Event, _ int) (*invocation.Answer, error) {
		if string(e.Payload) == "2" {
			close(gone)
			return good, nil
		}
		return nil, missing
	}}
	q := open(t, vfs.NewMem(), f, eventqueue.Options{})
	for _, payload := range []string{"1", "2"} {
		if err := q.Accept(event(payload)); err != nil {
			t.Fatal(err)
		}
	}
	<-gone
	if e := <-f.ended; string(e.Payload) != "2" {
		t.Errorf("told of %s", e.Payload)
	}
	for q.Pending() != 0 { // the first event may be dropped after the second
		runtime.Gosched()
	}
	q.Close()
}

func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	f := &function{answer: func(*eventqueue.Event, int) (*invocation.Answer, error) { return nil, throttled }}
	q := open(t, vfs.NewMem(), f, eventqueue.Options{PerFunction: lanes.Bound{Jobs: 3, Bytes: 100}})
	f.clock.Hold()
	defer f.clock.Release()
	for _, payload := range []string{"1", "2", string(make([]byte, 99)), "3", "4"} {
		err := q.Accept(event(payload))
		var refused *aws.Error
		want := len(payload) > 1 || payload == "4"
		if errors.As(err, &refused) != want || want && (refused.Code != "TooManyRequestsException" ||
			refused.Members["Reason"] != "ConcurrentInvocationLimitExceeded") {
			t.Errorf("%d bytes: %v", len(payload), err)
		}
	}
}

// TestNothingAcceptedIsLostInACrash crashes while events are running, waiting for another attempt, and being
// reported.
func TestNothingAcceptedIsLostInACrash(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	entered, hang := make(chan struct{}, 10), make(chan struct{})
	first := &function{answer: func(e *eventqueue.Event, n int) (*invocation.Answer, error) {
		if string(e.Payload) == "0" { // fails once, then waits
			return bad, nil
		}
		entered <- struct{}{}
		<-hang
		return good, nil
	}}
	q := open(t, disk, first, eventqueue.Options{})
	first.clock.Hold()
	accepted := map[string]bool{}
	for i := range 5 {
		e := event(fmt.Sprint(i))
		e.ClientContext = []byte(`{"c":1}`)
		if err := q.Accept(e); err != nil {
			t.Fatal(err)
		}
		accepted[e.ID] = true
	}
	for range 4 {
		<-entered
	}
	crashed := disk.CrashClone(vfs.CrashCloneCfg{})
	close(hang)
	first.clock.Release()

	second := &function{answer: func(e *eventqueue.Event, _ int) (*invocation.Answer, error) {
		if string(e.ClientContext) != `{"c":1}` {
			t.Errorf("the client context is %q", e.ClientContext)
		}
		return good, nil
	}}
	again := open(t, crashed, second, eventqueue.Options{})
	if n := again.Pending(); n != 5 {
		t.Errorf("%d events are pending after the crash, want 5", n)
	}
	again.Resume()
	for range 5 {
		e := <-second.ended
		if !accepted[e.ID] {
			t.Errorf("%s was not accepted, or has ended before", e.ID)
		}
		delete(accepted, e.ID)
	}
	again.Close()
	if n := again.Pending(); n != 0 {
		t.Errorf("%d are pending", n)
	}
}

// Events interrupted by closing the queue are kept.
func TestEventsThatAreNotCarriedOutAreKept(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem()
	store, err := documents.Open("/documents", disk)
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Virtual(epoch)
	defer c.Close()
	entered := make(chan struct{})
	q, err := eventqueue.Open(eventqueue.Options{Store: store, Clock: c,
		Invoke: func(ctx context.Context, _ *eventqueue.Event) (*invocation.Answer, error) {
			close(entered)
			<-ctx.Done()
			return nil, ctx.Err()
		},
		Tell: func(context.Context, *eventqueue.Event) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Accept(event("1")); err != nil {
		t.Fatal(err)
	}
	<-entered
	q.Close()
	var refused *aws.Error
	if err := q.Accept(event("2")); !errors.As(err, &refused) || refused.Code != "ServiceException" {
		t.Errorf("a closed queue: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	f := &function{answer: func(*eventqueue.Event, int) (*invocation.Answer, error) { return good, nil }}
	again := open(t, disk, f, eventqueue.Options{})
	again.Resume()
	if e := <-f.ended; string(e.Payload) != "1" || e.Attempts != 1 {
		t.Errorf("%+v", e)
	}
}

// An attempt that fails after Closing was called is not counted, whichever way it fails.
func TestFailuresWhileClosingDoNotCount(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]struct {
		answer *invocation.Answer
		err    error
	}{
		"the function fails": {answer: bad}, "there is no function": {err: missing}, "the service breaks": {err: broken},
		"the service refuses": {err: throttled}, "the function is paused": {err: eventqueue.ErrPaused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := vfs.NewMem()
			store, err := documents.Open("/documents", disk)
			if err != nil {
				t.Fatal(err)
			}
			c := clock.Virtual(epoch)
			defer c.Close()
			entered, closing := make(chan struct{}), make(chan struct{})
			q, err := eventqueue.Open(eventqueue.Options{Store: store, Clock: c,
				Invoke: func(context.Context, *eventqueue.Event) (*invocation.Answer, error) {
					close(entered)
					<-closing
					return failure.answer, failure.err
				},
				Tell: func(_ context.Context, e *eventqueue.Event) error {
					t.Errorf("an end is told: %+v", e.End)
					return nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			last := event("1")
			last.Retries = 0
			if err := q.Accept(last); err != nil {
				t.Fatal(err)
			}
			<-entered
			q.Closing()
			close(closing)
			q.Close()
			if err := store.Close(); err != nil {
				t.Error(err)
			}
			f := &function{answer: func(*eventqueue.Event, int) (*invocation.Answer, error) { return good, nil }}
			again := open(t, disk, f, eventqueue.Options{})
			again.Resume()
			if e := <-f.ended; e.Attempts != 1 || e.Delays != 0 || e.End.Condition != eventqueue.Success {
				t.Errorf("%+v, %+v", e, e.End)
			}
		})
	}
}

// TestAHangingFunctionDelaysNoOther queues 3,000 events of a function that never answers. Another function's event is
// handled.
func TestAHangingFunctionDelaysNoOther(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	f := &function{answer: func(e *eventqueue.Event, _ int) (*invocation.Answer, error) {
		if e.Function == "F" {
			<-hang
		}
		return good, nil
	}}
	q := open(t, vfs.NewMem(), f, eventqueue.Options{})
	defer close(hang)
	var accepting sync.WaitGroup
	for range 30 {
		accepting.Go(func() {
			for range 100 {
				if err := q.Accept(event("1")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	accepting.Wait()
	other := event("2")
	other.Function = "G"
	if err := q.Accept(other); err != nil {
		t.Fatal(err)
	}
	if e := <-f.ended; e.Function != "G" {
		t.Errorf("%s ended", e.Function)
	}
}
