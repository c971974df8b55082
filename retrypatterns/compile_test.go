package retrypatterns_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/retry"
	rp "stepback/retrypatterns"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	state := rp.StateRetries{State: "S", Timeout: time.Minute, Rows: []rp.Row{
		{Errors: []string{"A"}, Policy: retry.Policy{Interval: 100 * time.Millisecond, Rate: 2,
			MaxDelay: 900 * time.Millisecond, MaxAttempts: 1, Jitter: retry.JitterDecorrelated}},
		{Errors: []string{"B", "A"}, Policy: retry.Policy{Interval: 1500 * time.Millisecond, Rate: 2,
			MaxDelay: 9000 * time.Hour, MaxAttempts: 1}},
		{Errors: []string{"States.TaskFailed"}, Policy: retry.Policy{Interval: time.Second, Rate: 1, MaxAttempts: 1,
			Jitter: retry.JitterPartial}},
		{Errors: []string{"C", "States.Timeout"}},
		{Errors: []string{"States.ALL"}, Policy: retry.Policy{Interval: time.Second, Rate: 1, MaxAttempts: 1,
			Jitter: retry.JitterProportional, JitterFactor: 1}},
	}}
	compiled, err := state.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, note := range compiled.Notes {
		got = append(got, note.String())
	}
	want := []string{
		"S, retry row 1: value clamped: IntervalSeconds 100ms → 1",
		"S, retry row 1: value clamped: MaxDelaySeconds 900ms → 2",
		"S, retry row 1: jitter lowered: JitterStrategy DECORRELATED → FULL",
		"S, retry row 2: seconds rounded: IntervalSeconds 1.5s → 2",
		"S, retry row 2: value clamped: MaxDelaySeconds 9000h0m0s → 31622400",
		"S, retry row 2: error shadowed: ErrorEquals A → row 1",
		"S, retry row 3: jitter lowered: JitterStrategy PARTIAL → FULL",
		"S, retry row 4: error shadowed: ErrorEquals C → row 3",
		"S, retry row 5: jitter lowered: JitterStrategy PROPORTIONAL → FULL",
	}
	if !slices.Equal(got, want) {
		t.Errorf("notes:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTablesThatStepFunctionsWouldRefuseDoNotCompile(t *testing.T) {
	t.Parallel()
	good := retry.Policy{Interval: time.Second, Rate: 2, MaxDelay: time.Minute, MaxAttempts: 3}
	with := func(change func(*retry.Policy)) rp.Row {
		p := good
		change(&p)
		return rp.Row{Errors: []string{"E"}, Policy: p}
	}
	tests := []struct {
		name string
		row  rp.Row
		want string
	}{
		{"no errors", rp.Row{Policy: good}, "state S, retry row 1: ErrorEquals is empty; want at least one error name"},
		{"empty name", rp.Row{Errors: []string{""}},
			"state S, retry row 1: ErrorEquals is a name of 0 characters; want names of 1 to 256 characters"},
		{"States.ALL in company", rp.Row{Errors: []string{"States.ALL", "E"}},
			"state S, retry row 1: ErrorEquals is States.ALL, E; want States.ALL alone and in the last row only"},
		{"zero interval", with(func(p *retry.Policy) { p.Interval = 0 }),
			"state S, retry row 1: IntervalSeconds is 0s; want more than 0 and at most 99999999 seconds"},
		{"negative interval", with(func(p *retry.Policy) { p.Interval = -time.Second }),
			"state S, retry row 1: IntervalSeconds is -1s; want more than 0 and at most 99999999 seconds"},
		{"rate below 1", with(func(p *retry.Policy) { p.Rate = 0.5 }),
			"state S, retry row 1: BackoffRate is 0.5; want a finite number from 1.0"},
		{"rate NaN", with(func(p *retry.Policy) { p.Rate = math.NaN() }),
			"state S, retry row 1: BackoffRate is NaN; want a finite number from 1.0"},
		{"rate infinite", with(func(p *retry.Policy) { p.Rate = math.Inf(1) }),
			"state S, retry row 1: BackoffRate is +Inf; want a finite number from 1.0"},
		{"cap at the interval", with(func(p *retry.Policy) { p.MaxDelay = time.Second }),
			"state S, retry row 1: MaxDelaySeconds is 1s; want more than IntervalSeconds, or 0 for no cap"},
		{"negative cap", with(func(p *retry.Policy) { p.MaxDelay = -1 }),
			"state S, retry row 1: MaxDelaySeconds is -1ns; want more than IntervalSeconds, or 0 for no cap"},
		{"negative retries", with(func(p *retry.Policy) { p.MaxAttempts = -1 }),
			"state S, retry row 1: MaxAttempts is -1; want 0 to 99999999"},
		{"too many retries", with(func(p *retry.Policy) { p.MaxAttempts = 100_000_000 }),
			"state S, retry row 1: MaxAttempts is 100000000; want 0 to 99999999"},
		{"unknown jitter", with(func(p *retry.Policy) { p.Jitter = "HALF" }),
			"state S, retry row 1: JitterStrategy is HALF; want NONE, FULL, PARTIAL, DECORRELATED or PROPORTIONAL"},
		{"factor above 1", with(func(p *retry.Policy) { p.JitterFactor = 1.5 }),
			"state S, retry row 1: JitterFactor is 1.5; want 0 to 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			table := rp.Table{States: []rp.StateRetries{{State: "S", Timeout: time.Minute, Rows: []rp.Row{tt.row}}}}
			compiled, err := table.Compile("S")
			if err == nil || err.Error() != tt.want {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
			if compiled.Retry != nil {
				t.Error("a refused table yielded a Retry array")
			}
			var rowError *rp.RowError
			if !errors.As(table.Validate(), &rowError) || rowError.State != "S" || rowError.Row != 1 {
				t.Errorf("Validate returned %v", table.Validate())
			}
		})
	}
}

func TestStatesThatStepFunctionsWouldRefuse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		table rp.Table
		want  string
	}{
		{rp.Table{States: []rp.StateRetries{{State: "S"}}},
			"state S: TimeoutSeconds is 0s; want whole seconds from 1 to 99999999\nstate S: HeartbeatSeconds is 0s; want 0 or whole seconds below TimeoutSeconds"},
		{rp.Table{States: []rp.StateRetries{{State: "S", Timeout: time.Second, Heartbeat: time.Second}}},
			"state S: HeartbeatSeconds is 1s; want 0 or whole seconds below TimeoutSeconds"},
		{rp.Table{States: []rp.StateRetries{{Timeout: time.Second}}}, "state : State is empty; want a state's name"},
		{rp.Table{States: []rp.StateRetries{{State: "S", Timeout: time.Second}, {State: "S", Timeout: time.Second}}},
			"state S: State is listed twice; want one entry per state"},
	}
	for _, tt := range tests {
		if err := tt.table.Validate(); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
	if _, err := (rp.Table{States: []rp.StateRetries{{State: "S"}}}).Compile("Nowhere"); err == nil || err.Error() !=
		`state "Nowhere" is not in the retry table; it has [S]` {
		t.Errorf("unknown state: %v", err)
	}
}

// Whatever table a caller passes, a compiled array is one that Step Functions accepts.
func TestCompiledRetriersAreAlwaysInRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sane := rapid.Custom(func(t *rapid.T) retry.Policy {
			interval := rapid.Int64Range(1, int64(40_000_000*time.Second)).Draw(t, "interval")
			return retry.Policy{
				Interval: time.Duration(interval), Rate: rapid.Float64Range(1, 10).Draw(t, "rate"),
				MaxDelay: time.Duration(interval + rapid.Int64Range(1, int64(40_000_000*time.Second)).Draw(t,
					"gap")),
				MaxAttempts: rapid.IntRange(0, 99_999_999).Draw(t, "retries"),
				Jitter:      rapid.SampledFrom([]retry.Jitter{"", "FULL", "PARTIAL", "DECORRELATED"}).Draw(t, "jitter"),
			}
		})
		policy := rapid.OneOf(anyPolicy(), sane).Draw(t, "policy")
		state := rp.StateRetries{State: "S", Timeout: time.Minute,
			Rows: []rp.Row{{Errors: []string{"E"}, Policy: policy}}}
		compiled, err := state.Compile()
		if err != nil {
			return
		}
		r := compiled.Retry[0]
		if r.MaxAttempts == 0 {
			return
		}
		if r.IntervalSeconds < 1 || r.IntervalSeconds > 99_999_999 || r.BackoffRate < 1 || math.IsInf(r.BackoffRate,
			0) ||
			r.MaxAttempts < 0 || r.MaxAttempts > 99_999_999 || (r.JitterStrategy != "FULL" &&
			r.JitterStrategy != "NONE") {
			t.Fatalf("out of range: %+v", r)
		}
		if r.MaxDelaySeconds != 0 && (r.MaxDelaySeconds <= r.IntervalSeconds || r.MaxDelaySeconds > 31_622_400) {
			t.Fatalf("cap out of range: %+v", r)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}

// anyPolicy draws policies from all values, sane or not.
func anyPolicy() *rapid.Generator[retry.Policy] {
	floats := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 4),
		rapid.SampledFrom([]float64{0, -1, 1, 2, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64,
			math.SmallestNonzeroFloat64}))
	durations := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, int64(time.Hour)),
		rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64}))
	return rapid.Custom(func(t *rapid.T) retry.Policy {
		return retry.Policy{
			Interval:    time.Duration(durations.Draw(t, "interval")),
			Rate:        floats.Draw(t, "rate"),
			MaxDelay:    time.Duration(durations.Draw(t, "cap")),
			MaxAttempts: rapid.OneOf(rapid.Int(), rapid.IntRange(0, 50)).Draw(t, "retries"),
			Jitter: rapid.SampledFrom([]retry.Jitter{"", "FULL", "NONE", "PARTIAL", "DECORRELATED", "PROPORTIONAL",
				"bogus"}).Draw(t, "jitter"),
			JitterFactor: floats.Draw(t, "factor"),
		}
	})
}
