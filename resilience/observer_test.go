package resilience_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stepback/engine/clock"
	"stepback/resilience"
	"stepback/retry"
)

func TestLogRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(
			slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}),
		)
		_, _ = resilience.Do(t.Context(), failing(errUnavailable).call, seconds(3), resilience.WithName("payments"),
			resilience.WithObserver(resilience.LogRetries(log)))
		want := `{"level":"WARN","msg":"retry","event":"retry_attempt","service":"payments","attempt":1,"max_retries":3,"delay_ms":1000,` +
			`"error_type":"ServiceUnavailableError","error_class":"transient","error_message":"503"}` + "\n"
		if out.String() != want {
			t.Errorf("logged %s\nwant %s", out.String(), want)
		}
	})
}

// recorder records the events it receives.
type recorder struct{ lines []string }

type recorded struct{}

func (*recorder) Begin(ctx context.Context, service string) context.Context {
	return context.WithValue(ctx, recorded{}, service)
}

func (r *recorder) Observe(ctx context.Context, e resilience.Event) {
	r.lines = append(r.lines,
		fmt.Sprint(ctx.Value(recorded{}), " ", e.Kind, " ", e.Attempt, " ", e.Delay, " ", e.Duration, " ", e.Err))
}

func TestEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		e := must(t, seconds(1), resilience.WithName("s"), resilience.WithObserver(&r))
		var seen any
		_ = e.Run(t.Context(), func(ctx context.Context) error {
			if seen = ctx.Value(recorded{}); len(r.lines) == 0 {
				return errUnavailable
			}
			return nil
		})
		func() {
			defer func() { _ = recover() }()
			_ = e.Run(t.Context(), func(context.Context) error { panic("x") })
		}()
		want := "s attempt_ended 1 0s 0s 503\ns retry_attempt 1 1s 0s 503\ns attempt_ended 2 0s 0s <nil>\ns call_ended 2 0s 1s <nil>\n" +
			"s call_ended 1 0s 0s the operation panicked"
		if got := strings.Join(r.lines, "\n"); got != want || seen != "s" {
			t.Errorf("observed %s\nwant %s", got, want)
		}
	})
}

// engineTime makes an executor use the engine's clock. The caller holds the clock.
type engineTime struct{ *clock.Clock }

func (c engineTime) AfterFunc(d time.Duration, f func()) func() bool {
	return c.Schedule(c.Now().Add(d), clock.AlarmFunc(f)).Stop
}

func TestInTheEnginesVirtualTime(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(noon)
	defer c.Close()
	c.Hold()
	defer c.Release()
	batch := retry.Presets()[2].Policy
	_, err := resilience.Do(t.Context(), func(context.Context) (int, error) { return 0, errUnavailable }, batch,
		resilience.WithClock(engineTime{c}))
	wantStop(t, err, resilience.ErrExhausted, 11)
	if took := c.Now().Sub(noon); took < batch.Schedule().Total.Min || took > batch.Schedule().Total.Max {
		t.Errorf("it took %s", took)
	}
}
