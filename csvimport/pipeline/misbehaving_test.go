package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stepback/csvimport/handlers"
	"stepback/csvimport/process"
	"stepback/local/services/lambda/functions"
	"stepback/statemachine"
)

// raw is a function that returns bytes, JSON or not.
type raw func(context.Context, []byte) ([]byte, error)

func (r raw) Invoke(ctx context.Context, event []byte) ([]byte, error) { return r(ctx, event) }

// misbehaviours are ways in which a function can fail an invocation although it has done its work.
var misbehaviours = map[string]struct {
	answer  func(context.Context) ([]byte, error)
	errors  []string      // possible names of the row's failure
	timeout time.Duration // of the function; 0 leaves it unchanged
}{
	"panics": {func(context.Context) ([]byte, error) { panic("out of luck") }, []string{"string"}, 0},
	"panics with a nil": {func(context.Context) ([]byte, error) { return nil, (*fault)(nil) },
		[]string{"fault", "errorString", "plainError", "boundsError", "Error", "TypeAssertionError"}, 0},
	"hangs": {func(ctx context.Context) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() },
		[]string{"Sandbox.Timedout"}, 50 * time.Millisecond},
	"exits a goroutine": {func(context.Context) ([]byte, error) { runtime.Goexit(); return nil, nil },
		[]string{"Sandbox.Timedout", "Runtime.ExitError"}, 50 * time.Millisecond},
	"answers 6 MB": {func(context.Context) ([]byte, error) { return quoted(6<<20 + 200), nil },
		[]string{"Function.ResponseSizeTooLarge"}, 0},
	"answers 300 kB": {func(context.Context) ([]byte, error) { return quoted(300_000), nil },
		[]string{"States.DataLimitExceeded"}, 0},
	"answers no JSON": {func(context.Context) ([]byte, error) { return []byte("<html>oops"), nil },
		[]string{"Runtime.SerializationError"}, 0},
	"answers nothing": {func(context.Context) ([]byte, error) { return nil, nil },
		[]string{"Runtime.SerializationError"}, 0},
	"answers half JSON": {func(context.Context) ([]byte, error) { return []byte(`{"outcome":"applied",`), nil },
		[]string{"Runtime.SerializationError"}, 0},
	"answers bad UTF-8":  {func(context.Context) ([]byte, error) { return []byte("\"\xff\xfe\""), nil }, nil, 0},
	"answers other JSON": {func(context.Context) ([]byte, error) { return []byte(`[1,2,3]`), nil }, nil, 0},
	"answers null":       {func(context.Context) ([]byte, error) { return []byte(`null`), nil }, nil, 0},
	"fails at length": {func(context.Context) ([]byte, error) {
		return nil,
			errors.New(strings.Repeat("x", 300_000))
	}, nil, 0},
}

type fault struct{ text string }

func (f *fault) Error() string { return f.text }

func quoted(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }

// misbehave makes the function respond wrongly to some invocations of ProcessSingleUserRecord, before or after the
// work is done.
func misbehave(tr *trial, every int64, afterWork bool, timeout time.Duration, answer func(context.Context) ([]byte,
	error)) {
	var n atomic.Int64
	tr.cfg.AdjustFunction(func(_ string, l *functions.Program) {
		next, ok := l.Handler.(handlers.Func[process.Answer])
		if !ok {
			return
		}
		if timeout > 0 {
			l.Timeout = timeout
		}
		l.Handler = raw(func(ctx context.Context, event []byte) ([]byte, error) {
			bad := n.Add(1)%every == 0
			if bad && !afterWork {
				return answer(ctx)
			}
			out, err := next(context.WithoutCancel(ctx), event)
			if bad {
				return answer(ctx)
			}
			if err != nil {
				return nil, err
			}
			return json.Marshal(out)
		})
	})
}

func TestFunctionsThatMisbehave(t *testing.T) {
	t.Parallel()
	rows := activities(200, 0)
	for name, m := range misbehaviours {
		for when, afterWork := range map[string]bool{"before the work": false, "after the work": true} {
			for _, batch := range []int{1, 50} {
				if (batch == 1) == afterWork {
					continue // two of the four combinations are sufficient
				}
				t.Run(name+" "+when, func(t *testing.T) {
					t.Parallel()
					tr := newTrial(t, "activity.csv", plain(rows))
					tr.cfg.Batch = batch
					tr.tolerate(100)
					misbehave(tr, 40, afterWork, m.timeout, m.answer)
					r := tr.run(t, false)
					if r.Error == statemachine.AggregateMismatch && m.errors == nil {
						// A response that is JSON but not an outcome: nothing is summed up until the rows are
						// retried.
						tr.cfg.AdjustFunction(nil)
						r = tr.run(t, true)
					}
					if r.Rows == nil {
						t.Fatalf("%s: %s", r.Error, r.Cause)
					}
					tr.accounts(t, r, rows)
					for _, x := range r.Retries {
						known := m.errors == nil
						for _, e := range m.errors {
							known = known || x.Error == e
						}
						if !known {
							t.Errorf("failed with %s, want one of %v", x.Error, m.errors)
						}
					}
				})
			}
		}
	}
}
