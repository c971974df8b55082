package statemachine_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/retry"
	rp "stepback/retrypatterns"
	"stepback/statemachine"
)

// sourceRetries holds the source's Retry blocks, field by field, with the one change that ASL requires: PARTIAL
// became FULL.
var sourceRetries = map[string][]string{
	statemachine.ValidateCSVFile: {
		`{"ErrorEquals":["Lambda.ServiceException","Lambda.AWSLambdaException","Lambda.SdkClientException"],"IntervalSeconds":1,"MaxAttempts":5,"BackoffRate":2,"MaxDelaySeconds":60,"JitterStrategy":"FULL","Comment":"AWS Lambda サービス例外の積極的再試行"}`,
		`{"ErrorEquals":["Lambda.TooManyRequestsException","Lambda.ThrottledException"],"IntervalSeconds":5,"MaxAttempts":3,"BackoffRate":2.5,"MaxDelaySeconds":300,"JitterStrategy":"FULL","Comment":"Lambda スロットリング用の保守的再試行"}`,
		`{"ErrorEquals":["S3.ServiceUnavailable","S3.InternalError"],"IntervalSeconds":2,"MaxAttempts":4,"BackoffRate":2,"MaxDelaySeconds":120,"JitterStrategy":"FULL","Comment":"S3関連エラーの適応的再試行"}`,
		`{"ErrorEquals":["States.TaskFailed"],"IntervalSeconds":2,"MaxAttempts":2,"BackoffRate":1.5,"MaxDelaySeconds":10,"JitterStrategy":"NONE","Comment":"一般的タスク失敗の最小再試行"}`,
	},
	statemachine.ProcessSingleUserRecord: {
		`{"ErrorEquals":["DatabaseConnectionError","AuroraTemporaryError","DeadlockException"],"IntervalSeconds":2,"MaxAttempts":4,"BackoffRate":1.8,"MaxDelaySeconds":30,"JitterStrategy":"FULL","Comment":"データベース接続エラー最適化再試行"}`,
		`{"ErrorEquals":["ConcurrentModificationException","OptimisticLockException"],"IntervalSeconds":1,"MaxAttempts":5,"BackoffRate":2,"MaxDelaySeconds":15,"JitterStrategy":"FULL","Comment":"同時更新競合の積極的再試行"}`,
		`{"ErrorEquals":["Lambda.ThrottledException","Lambda.TooManyRequestsException"],"IntervalSeconds":3,"MaxAttempts":4,"BackoffRate":2.5,"MaxDelaySeconds":60,"JitterStrategy":"FULL","Comment":"Lambda スロットリング制御"}`,
		`{"ErrorEquals":["TimeoutError","ConnectionTimeoutError","SocketTimeoutError"],"IntervalSeconds":5,"MaxAttempts":3,"BackoffRate":2.5,"MaxDelaySeconds":300,"JitterStrategy":"FULL","Comment":"ネットワーク関連エラー"}`,
	},
	statemachine.AggregateResults: {
		`{"ErrorEquals":["Lambda.ServiceException","Lambda.AWSLambdaException"],"IntervalSeconds":3,"MaxAttempts":3,"BackoffRate":2,"MaxDelaySeconds":180,"JitterStrategy":"FULL","Comment":"集約処理の一時的エラー再試行"}`,
		`{"ErrorEquals":["S3.SlowDown","S3.ServiceUnavailable"],"IntervalSeconds":5,"MaxAttempts":3,"BackoffRate":2.5,"MaxDelaySeconds":300,"JitterStrategy":"FULL","Comment":"S3書き込みエラーの再試行"}`,
	},
}

func TestCompiledStatesHoldTheSourcesRetriersInOrder(t *testing.T) {
	t.Parallel()
	for state, want := range sourceRetries {
		compiled, err := statemachine.DefaultTable().Compile(state)
		if err != nil {
			t.Fatal(err)
		}
		entry, _ := statemachine.DefaultTable().State(state)
		var got []string
		for i, row := range entry.Rows {
			if row.Provenance == rp.FromDesign {
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
		statemachine.ValidateCSVFile:         {300 * time.Second, 30 * time.Second},
		statemachine.ProcessSingleUserRecord: {30 * time.Second, 10 * time.Second},
		statemachine.AggregateResults:        {120 * time.Second, 20 * time.Second},
	}
	for state, limits := range want {
		entry, _ := statemachine.DefaultTable().State(state)
		if entry.Timeout != limits[0] || entry.Heartbeat != limits[1] {
			t.Errorf("%s: timeout %s, heartbeat %s, want %v", state, entry.Timeout, entry.Heartbeat, limits)
		}
	}
}

func TestPermanentErrorsAreNamedFirstAndNeverRetried(t *testing.T) {
	t.Parallel()
	for _, entry := range statemachine.DefaultTable().States {
		compiled, err := statemachine.DefaultTable().Compile(entry.State)
		if err != nil {
			t.Fatal(err)
		}
		first := compiled.Retry[0]
		if first.MaxAttempts != 0 || !slices.Equal(first.ErrorEquals, statemachine.PermanentErrors()) {
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
		statemachine.ValidateCSVFile:         slices.Concat(everywhere, s3),
		statemachine.ProcessSingleUserRecord: slices.Concat(everywhere, database),
		statemachine.AggregateResults:        slices.Concat(everywhere, database, s3),
	}
	for state, names := range tests {
		compiled, _ := statemachine.DefaultTable().Compile(state)
		for _, name := range names {
			if r := retrierFor(compiled.Retry, name); r == nil || r.MaxAttempts == 0 {
				t.Errorf("%s does not retry %s", state, name)
			}
		}
		for _, name := range retry.PermanentErrors() {
			if r := retrierFor(compiled.Retry, name); r == nil || r.MaxAttempts != 0 {
				t.Errorf("%s retries %s", state, name)
			}
		}
	}
}

func TestAdditionsFollowTheErrorMap(t *testing.T) {
	t.Parallel()
	for _, entry := range statemachine.DefaultTable().States {
		for i, row := range entry.Rows {
			if row.Provenance != rp.Addition || row.Policy.MaxAttempts == 0 {
				continue
			}
			if !strings.HasPrefix(row.Comment, "Addition: ") {
				t.Errorf("%s row %d is not marked: %s", entry.State, i+1, row.Comment)
			}
			if entry.State == statemachine.ApplyBatch && row.Errors[0] == "Lambda.ThrottledException" {
				want := retry.Policy{Interval: 3 * time.Second, Rate: 2.5, MaxDelay: 300 * time.Second, MaxAttempts: 20,
					Jitter: retry.JitterFull}
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
	table := statemachine.DefaultTable()
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	lowered := map[string]int{
		statemachine.ValidateCSVFile: 3, statemachine.ValidateRange: 3, statemachine.ApplyBatch: 2,
		statemachine.ProcessSingleUserRecord: 3,
		statemachine.AggregateResults:        3,
		statemachine.NotifyValidationFailure: 1, statemachine.NotifyCompletion: 1, statemachine.NotifyFailure: 1}
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

func TestAnUnknownStateDoesNotCompile(t *testing.T) {
	t.Parallel()
	if _, err := statemachine.DefaultTable().Compile("Nowhere"); err == nil || !strings.Contains(err.Error(),
		`state "Nowhere" is not in the retry table; it has [ValidateCSVFile`) {
		t.Errorf("unknown state: %v", err)
	}
}

func TestTheTableIsHandedOutAsACopy(t *testing.T) {
	t.Parallel()
	statemachine.PermanentErrors()[0] = "x"
	table := statemachine.DefaultTable()
	table.States[0].Rows[0].Errors[0] = "x"
	table.States[0].Rows[1].Policy.MaxAttempts = 99
	fresh := statemachine.DefaultTable().States[0].Rows
	if fresh[0].Errors[0] != "CSVFileNotFound" || fresh[1].Policy.MaxAttempts != 5 {
		t.Error("the default table changed from outside")
	}
}

// No name that package retry knows as permanent may be missing from the Retry arrays.
func TestPermanentErrorsHoldTheVocabularys(t *testing.T) {
	t.Parallel()
	for _, name := range retry.PermanentErrors() {
		if !statemachine.IsPermanent(name) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{statemachine.CSVFileNotFound, statemachine.AggregateMismatch} {
		if !statemachine.IsPermanent(name) || retry.IsPermanent(name) {
			t.Errorf("%s is a name of the import, and permanent", name)
		}
	}
	for _, row := range rp.ErrorPatterns() {
		if statemachine.IsPermanent(row.Error) {
			t.Errorf("%s has a pattern and is permanent", row.Error)
		}
	}
}

func TestRetryPatternsPageIsCurrent(t *testing.T) {
	const page = "../docs/retry-patterns.md"
	var want bytes.Buffer
	if err := statemachine.WriteRetryPatterns(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is out of date: run go generate ./statemachine", page)
	}
}
