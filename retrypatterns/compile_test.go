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

	rp "stepback/retrypatterns"
)

// sourceRetries holds the source's Retry blocks, field by field, with the one change that ASL requires: PARTIAL
// became FULL.
var sourceRetries = map[string][]string{
	rp.ValidateCSVFile: {
		`{"ErrorEquals":["Lambda.ServiceException","Lambda.AWSLambdaException","Lambda.SdkClientException"],"IntervalSeconds":1,"MaxAttempts":5,"BackoffRate":2,"MaxDelaySeconds":60,"JitterStrategy":"FULL","Comment":"AWS Lambda サービス例外の積極的再試行"}`,
		`{"ErrorEquals":["Lambda.TooManyRequestsException","Lambda.ThrottledException"],"IntervalSeconds":5,"MaxAttempts":3,"BackoffRate":2.5,"MaxDelaySeconds":300,"JitterStrategy":"FULL","Comment":"Lambda スロットリング用の保守的再試行"}`,
		`{"ErrorEquals":["S3.ServiceUnavailable","S3.InternalError"],"IntervalSeconds":2,"MaxAttempts":4,"BackoffRate":2,"MaxDelaySeconds":120,"JitterStrategy":"FULL","Comment":"S3関連エラーの適応的再試行"}`,
		`{"ErrorEquals":["States.TaskFailed"],"IntervalSeconds":2,"MaxAttempts":2,"BackoffRate":1.5,"MaxDelaySeconds":10,"JitterStrategy":"NONE","Comment":"一般的タスク失敗の最小再試行"}`,
	},
	rp.ProcessSingleUserRecord: {
		`{"ErrorEquals":["DatabaseConnectionError","AuroraTemporaryError","DeadlockException"],"IntervalSeconds":2,"MaxAttempts":4,"BackoffRate":1.8,"MaxDelaySeconds":30,"JitterStrategy":"FULL","Comment":"データベース接続エラー最適化再試行"}`,
		`{"ErrorEquals":["ConcurrentModificationException","OptimisticLockException"],"IntervalSeconds":1,"MaxAttempts":5,"BackoffRate":2,"MaxDelaySeconds":15,"JitterStrategy":"FULL","Comment":"同時更新競合の積極的再試行"}`,
		`{"ErrorEquals":["Lambda.ThrottledException","Lambda.TooManyRequestsException"],"IntervalSeconds":3,"MaxAttempts":4,"BackoffRate":2.5,"MaxDelaySeconds":60,"JitterStrategy":"FULL","Comment":"Lambda スロットリング制御"}`,
		`{"ErrorEquals":["TimeoutError","ConnectionTimeoutError","SocketTimeoutError"],"IntervalSeconds":5,"MaxAttempts":3,"BackoffRate":2.5,"MaxDelaySeconds":300,"JitterStrategy":"FULL","Comment":"ネットワーク関連エラー"}`,
	},
	rp.AggregateResults: {
		`{"ErrorEquals":["Lambda.ServiceException","Lambda.AWSLambdaException"],"IntervalSeconds":3,"MaxAttempts":3,"BackoffRate":2,"MaxDelaySeconds":180,"JitterStrategy":"FULL","Comment":"集約処理の一時的エラー再試行"}`,
		`{"ErrorEquals":["S3.SlowDown","S3.ServiceUnavailable"],"IntervalSeconds":5,"MaxAttempts":3,"BackoffRate":2.5,"MaxDelaySeconds":300,"JitterStrategy":"FULL","Comment":"S3書き込みエラーの再試行"}`,
	},
}

func TestCompiledStatesHoldTheSourcesRetriersInOrder(t *testing.T) {
	t.Parallel()
	for state, want := range sourceRetries {
		compiled, err := rp.Compile(state)
		if err != nil {
			t.Fatal(err)
		}
		entry, _ := rp.DefaultTable().State(state)
		var got []string
		for i, row := range entry.Rows {
			if row.Provenance == rp.FromSource {
				text, _ := json.Marshal(compiled.Retry[i])
				got = append(got, string(text))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", state, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestStatesHaveTheSourcesTimeouts(t *testing.T) {
	t.Parallel()
	want := map[string][2]time.Duration{
		rp.ValidateCSVFile:         {300 * time.Second, 30 * time.Second},
		rp.ProcessSingleUserRecord: {30 * time.Second, 10 * time.Second},
		rp.AggregateResults:        {120 * time.Second, 20 * time.Second},
	}
	for state, limits := range want {
		entry, _ := rp.DefaultTable().State(state)
		if entry.Timeout != limits[0] || entry.Heartbeat != limits[1] {
			t.Errorf("%s: timeout %s, heartbeat %s, want %v", state, entry.Timeout, entry.Heartbeat, limits)
		}
	}
}

func TestPermanentErrorsAreNamedFirstAndNeverRetried(t *testing.T) {
	t.Parallel()
	for _, entry := range rp.DefaultTable().States {
		compiled, err := rp.Compile(entry.State)
		if err != nil {
			t.Fatal(err)
		}
		first := compiled.Retry[0]
		if first.MaxAttempts != 0 || !slices.Equal(first.ErrorEquals, rp.PermanentErrors()) {
			t.Errorf("%s begins with %+v", entry.State, first)
		}
		text, _ := json.Marshal(first)
		if want := `"MaxAttempts":0,"Comment":"Addition: permanent errors, never retried"}`; !strings.HasSuffix(string(text), want) {
			t.Errorf("%s: %s does not end in %s", entry.State, text, want)
		}
	}
}

// retrierFor scans as Step Functions does: only the first match counts.
func retrierFor(retry []rp.Retrier, name string) *rp.Retrier {
	for i, r := range retry {
		taskFailed := slices.Contains(r.ErrorEquals, "States.TaskFailed") && name != "States.Timeout"
		if slices.Contains(r.ErrorEquals, name) || taskFailed {
			return &retry[i]
		}
	}
	return nil
}

func TestEachStateRetriesWhatItCanMeet(t *testing.T) {
	t.Parallel()
	everywhere := []string{"Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
		"Lambda.ClientExecutionTimeoutException",
		"Lambda.TooManyRequestsException", "Lambda.ThrottledException", "TimeoutError", "ConnectionTimeoutError",
		"SocketTimeoutError",
		"States.Timeout", "States.HeartbeatTimeout", "Runtime.ExitError", "Lambda.Unknown", "Sandbox.Timedout",
		"TooManyRequestsError", "ServiceUnavailableError", "InternalServerError"}
	database := []string{"DatabaseConnectionError", "AuroraTemporaryError", "DeadlockException",
		"ConcurrentModificationException", "OptimisticLockException"}
	s3 := []string{"S3.SlowDown", "S3.ServiceUnavailable", "S3.InternalError"}
	tests := map[string][]string{
		rp.ValidateCSVFile:         slices.Concat(everywhere, s3),
		rp.ProcessSingleUserRecord: slices.Concat(everywhere, database),
		rp.AggregateResults:        slices.Concat(everywhere, database, s3),
	}
	for state, names := range tests {
		compiled, _ := rp.Compile(state)
		for _, name := range names {
			if r := retrierFor(compiled.Retry, name); r == nil || r.MaxAttempts == 0 {
				t.Errorf("%s does not retry %s", state, name)
			}
		}
		for _, name := range rp.PermanentErrors() {
			if r := retrierFor(compiled.Retry, name); r == nil || r.MaxAttempts != 0 {
				t.Errorf("%s retries %s", state, name)
			}
		}
	}
}

func TestAdditionsFollowTheErrorMap(t *testing.T) {
	t.Parallel()
	for _, entry := range rp.DefaultTable().States {
		for i, row := range entry.Rows {
			if row.Provenance != rp.Addition || row.Policy.MaxAttempts == 0 {
				continue
			}
			if !strings.HasPrefix(row.Comment, "Addition: ") {
				t.Errorf("%s row %d is not marked: %s", entry.State, i+1, row.Comment)
			}
			if entry.State == rp.ApplyBatch && row.Errors[0] == "Lambda.ThrottledException" {
				want := rp.Policy{Interval: 3 * time.Second, Rate: 2.5, MaxDelay: 300 * time.Second, MaxAttempts: 20,
					Jitter: rp.JitterFull}
				if row.Policy != want { // its own numbers, because a batch waits for Lambda
					t.Errorf("ApplyBatch waits for Lambda by %+v", row.Policy)
				}
				continue
			}
			for _, name := range row.Errors {
				if p, ok := rp.PatternFor(name); !ok || p.Policy != row.Policy {
					t.Errorf("%s row %d: %s does not have its pattern's numbers", entry.State, i+1, name)
				}
			}
		}
	}
}

func TestDefaultTableShadowsNothing(t *testing.T) {
	t.Parallel()
	table := rp.DefaultTable()
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	lowered := map[string]int{rp.ValidateCSVFile: 3, rp.ApplyBatch: 2, rp.ProcessSingleUserRecord: 3,
		rp.AggregateResults:        3,
		rp.NotifyValidationFailure: 1, rp.NotifyCompletion: 1, rp.NotifyFailure: 1}
	for _, entry := range table.States {
		compiled, _ := table.Compile(entry.State)
		for _, note := range compiled.Notes {
			if note.Kind != rp.JitterLowered {
				t.Errorf("unexpected note: %s", note)
			}
		}
		if len(compiled.Notes) != lowered[entry.State] {
			t.Errorf("%s: %d notes, want %d: %v", entry.State, len(compiled.Notes), lowered[entry.State],
				compiled.Notes)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	state := rp.StateRetries{State: "S", Timeout: time.Minute, Rows: []rp.Row{
		{Errors: []string{"A"}, Policy: rp.Policy{Interval: 100 * time.Millisecond, Rate: 2,
			MaxDelay: 900 * time.Millisecond, MaxAttempts: 1, Jitter: rp.JitterDecorrelated}},
		{Errors: []string{"B", "A"}, Policy: rp.Policy{Interval: 1500 * time.Millisecond, Rate: 2,
			MaxDelay: 9000 * time.Hour, MaxAttempts: 1}},
		{Errors: []string{"States.TaskFailed"}, Policy: rp.Policy{Interval: time.Second, Rate: 1, MaxAttempts: 1,
			Jitter: rp.JitterPartial}},
		{Errors: []string{"C", "States.Timeout"}},
		{Errors: []string{"States.ALL"}, Policy: rp.Policy{Interval: time.Second, Rate: 1, MaxAttempts: 1,
			Jitter: rp.JitterProportional, JitterFactor: 1}},
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
	good := rp.Policy{Interval: time.Second, Rate: 2, MaxDelay: time.Minute, MaxAttempts: 3}
	with := func(change func(*rp.Policy)) rp.Row {
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
		{"zero interval", with(func(p *rp.Policy) { p.Interval = 0 }),
			"state S, retry row 1: IntervalSeconds is 0s; want more than 0 and at most 99999999 seconds"},
		{"negative interval", with(func(p *rp.Policy) { p.Interval = -time.Second }),
			"state S, retry row 1: IntervalSeconds is -1s; want more than 0 and at most 99999999 seconds"},
		{"rate below 1", with(func(p *rp.Policy) { p.Rate = 0.5 }),
			"state S, retry row 1: BackoffRate is 0.5; want a finite number from 1.0"},
		{"rate NaN", with(func(p *rp.Policy) { p.Rate = math.NaN() }),
			"state S, retry row 1: BackoffRate is NaN; want a finite number from 1.0"},
		{"rate infinite", with(func(p *rp.Policy) { p.Rate = math.Inf(1) }),
			"state S, retry row 1: BackoffRate is +Inf; want a finite number from 1.0"},
		{"cap at the interval", with(func(p *rp.Policy) { p.MaxDelay = time.Second }),
			"state S, retry row 1: MaxDelaySeconds is 1s; want more than IntervalSeconds, or 0 for no cap"},
		{"negative cap", with(func(p *rp.Policy) { p.MaxDelay = -1 }),
			"state S, retry row 1: MaxDelaySeconds is -1ns; want more than IntervalSeconds, or 0 for no cap"},
		{"negative retries", with(func(p *rp.Policy) { p.MaxAttempts = -1 }),
			"state S, retry row 1: MaxAttempts is -1; want 0 to 99999999"},
		{"too many retries", with(func(p *rp.Policy) { p.MaxAttempts = 100_000_000 }),
			"state S, retry row 1: MaxAttempts is 100000000; want 0 to 99999999"},
		{"unknown jitter", with(func(p *rp.Policy) { p.Jitter = "HALF" }),
			"state S, retry row 1: JitterStrategy is HALF; want NONE, FULL, PARTIAL, DECORRELATED or PROPORTIONAL"},
		{"factor above 1", with(func(p *rp.Policy) { p.JitterFactor = 1.5 }),
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
	if _, err := rp.Compile("Nowhere"); err == nil || !strings.Contains(err.Error(),
		`state "Nowhere" is not in the retry table; it has [ValidateCSVFile`) {
		t.Errorf("unknown state: %v", err)
	}
}

// Whatever table a caller passes, a compiled array is one that Step Functions accepts.
func TestCompiledRetriersAreAlwaysInRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sane := rapid.Custom(func(t *rapid.T) rp.Policy {
			interval := rapid.Int64Range(1, int64(40_000_000*time.Second)).Draw(t, "interval")
			return rp.Policy{
				Interval: time.Duration(interval), Rate: rapid.Float64Range(1, 10).Draw(t, "rate"),
				MaxDelay: time.Duration(interval + rapid.Int64Range(1, int64(40_000_000*time.Second)).Draw(t,
					"gap")),
				MaxAttempts: rapid.IntRange(0, 99_999_999).Draw(t, "retries"),
				Jitter:      rapid.SampledFrom([]rp.Jitter{"", "FULL", "PARTIAL", "DECORRELATED"}).Draw(t, "jitter"),
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
