package executions_test

import (
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
	"stepback/local/services/stepfunctions/wiretest"
	"stepback/retrymetrics"
)

// logged returns the records of an execution's log, in order.
func logged(t *testing.T, store *logstore.Store, arn any, least int) []string {
	t.Helper()
	// Records are written asynchronously, so the execution may be reported as ended before they are.
	end := time.Now().Add(time.Minute)
	for {
		records := loggedNow(t, store, arn)
		if len(records) >= least || time.Now().After(end) {
			return records
		}
		runtime.Gosched()
	}
}

func loggedNow(t *testing.T, store *logstore.Store, arn any) (records []string) {
	t.Helper()
	ours := func(stream string) bool { return strings.HasPrefix(stream, "states/m/") }
	events, err := store.Read(aws.Scope{Account: "123456789012", Region: "us-east-1"}, wiretest.LogGroup, ours, 0, 1<<62)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if strings.Contains(e.Message, `"execution_arn":"`+arn.(string)+`"`) {
			records = append(records, e.Message)
		}
	}
	return records
}

// typesOf returns the types of log records.
func typesOf(t *testing.T, records []string) (names []string) {
	t.Helper()
	for _, text := range records {
		r, err := retrymetrics.ParseRecord([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, r.Type.String())
	}
	return names
}

func TestExecutionsAreLogged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, level, definition string
		want                    string
	}{
		"all of a success": {"STANDARD", "ALL", wiretest.Pass,
			"ExecutionStarted PassStateEntered PassStateExited ExecutionSucceeded"},
		"errors of a success":         {"STANDARD", "ERROR", wiretest.Pass, ""},
		"nothing":                     {"STANDARD", "OFF", wiretest.Failing, ""},
		"errors of a failure":         {"STANDARD", "ERROR", wiretest.Failing, "FailStateEntered ExecutionFailed"},
		"fatal errors of a failure":   {"STANDARD", "FATAL", wiretest.Failing, "ExecutionFailed"},
		"all of an express failure":   {"EXPRESS", "ALL", wiretest.Failing, "ExecutionStarted FailStateEntered ExecutionFailed"},
		"fatal of an express success": {"EXPRESS", "FATAL", wiretest.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, store := wiretest.LoggingServer(t)
			w := wiretest.Wire{URL: url}
			m := w.Call(t, "CreateStateMachine", map[string]any{
				"name": "m", "definition": c.definition, "roleArn": wiretest.Role, "type": c.kind,
				"loggingConfiguration": wiretest.Logging(c.level, false),
			})
			var arn any
			if c.kind == "EXPRESS" {
				arn = w.Call(t, "StartSyncExecution",
					map[string]any{"stateMachineArn": m["stateMachineArn"]})["executionArn"]
			} else {
				arn = w.Run(t, m["stateMachineArn"].(string), "{}")["executionArn"]
			}
			if got := strings.Join(typesOf(t, logged(t, store, arn, len(strings.Fields(c.want)))), " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestLogRecordsTellWhatTheHistoryTells compares each log record with its history event, member by member.
func TestLogRecordsTellWhatTheHistoryTells(t *testing.T) {
	t.Parallel()
	url, store := wiretest.LoggingServer(t)
	w := wiretest.Wire{URL: url}
	m := w.Call(t, "CreateStateMachine", map[string]any{
		"name": "m", "roleArn": wiretest.Role, "loggingConfiguration": wiretest.Logging("ALL", true),
		"definition": `{"StartAt":"M","States":{"M":{"Type":"Map","ItemProcessor":{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}},"Next":"F"},
			"F":{"Type":"Fail","Error":"E","Cause":"C"}}}`,
	})["stateMachineArn"].(string)
	d := w.Run(t, m, `[1,{"a":2}]`)
	events := w.Call(t, "GetExecutionHistory", map[string]any{"executionArn": d["executionArn"]})["events"].([]any)
	records := logged(t, store, d["executionArn"], len(events))
	if len(records) != len(events) {
		t.Fatalf("%d records of %d events", len(records), len(events))
	}
	slices.SortFunc(records, func(a, b string) int { return idIn(t, a) - idIn(t, b) })
	for i, text := range records {
		var record map[string]any
		if err := json.Unmarshal([]byte(text), &record); err != nil {
			t.Fatal(err)
		}
		e := events[i].(map[string]any)
		if record["id"] != strconv.Itoa(int(e["id"].(float64))) ||
			record["previous_event_id"] != strconv.Itoa(int(e["previousEventId"].(float64))) ||
			record["type"] != e["type"] || record["redrive_count"] != "0" {
			t.Errorf("%s is not of %v", text, e)
		}
		details := map[string]any{}
		for member, v := range e {
			if strings.HasSuffix(member, "EventDetails") {
				details = v.(map[string]any)
			}
		}
		want, err := json.Marshal(details)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(record["details"]); err != nil || string(got) != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The child executions of a Map Run log as their parent's state machine configures it.
func TestChildExecutionsAreLogged(t *testing.T) {
	t.Parallel()
	for kind, prefix := range map[string]string{"STANDARD": ":execution:m/L:", "EXPRESS": ":express:m/L:"} {
		url, store := wiretest.LoggingServer(t)
		w := wiretest.Wire{URL: url}
		m := w.Call(t, "CreateStateMachine", map[string]any{
			"name": "m", "roleArn": wiretest.Role, "loggingConfiguration": wiretest.Logging("ALL", false),
			"definition": `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","End":true,"ItemProcessor":{
				"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"` + kind +
				`"},"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}}}}`,
		})["stateMachineArn"].(string)
		w.Run(t, m, `[1,2,3]`)
		events, err := store.Read(aws.Scope{Account: "123456789012", Region: "us-east-1"}, wiretest.LogGroup,
			func(string) bool { return true }, 0, 1<<62)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, e := range events {
			if r, err := retrymetrics.ParseRecord([]byte(e.Message)); err == nil && strings.Contains(r.Execution,
				prefix) {
				seen[r.Type.String()]++
			}
		}
		if want := map[string]int{"ExecutionStarted": 3, "PassStateEntered": 3, "PassStateExited": 3,
			"ExecutionSucceeded": 3}; !maps.Equal(seen, want) {
			t.Errorf("%s: %v", kind, seen)
		}
	}
}

func idIn(t *testing.T, record string) int {
	t.Helper()
	r, err := retrymetrics.ParseRecord([]byte(record))
	if err != nil {
		t.Fatal(err)
	}
	return int(r.ID)
}

func TestLogDestinations(t *testing.T) {
	t.Parallel()
	url, store := wiretest.LoggingServer(t)
	w, here := wiretest.Wire{URL: url}, aws.Scope{Account: "123456789012", Region: "us-east-1"}
	create := func(name string, configuration map[string]any) string {
		return wiretest.Refusal(w.Call(t, "CreateStateMachine", map[string]any{"name": name, "definition": wiretest.Pass, "roleArn": wiretest.Role,
			"loggingConfiguration": configuration}))
	}
	destination := func(arn string) map[string]any {
		c := wiretest.Logging("ALL", true)
		c["destinations"] = []any{map[string]any{"cloudWatchLogsLogGroup": map[string]any{"logGroupArn": arn}}}
		return c
	}
	const problem = "InvalidLoggingConfiguration: Invalid Logging Configuration: "
	const invalid, missing = problem + "Invalid Log Destination ARN.", problem + "Log Destination not found."
	for arn, want := range map[string]string{
		"arn:aws:logs:us-east-1:123456789012:log-group:g":      invalid,
		"arn:aws:logs:us-east-1:123456789012:log-stream:g:*":   invalid,
		"arn:aws:s3:::bucket:*":                                invalid,
		"arn:aws:logs:eu-west-1:123456789012:log-group:g:*":    missing,
		"arn:aws:logs:us-east-1:000000000001:log-group:/g:*":   missing,
		"arn:aws:logs:us-east-1:123456789012:log-group:/g/h:*": ": ",
	} {
		name := "refused"
		if want == ": " {
			name = "m"
		}
		if got := create(name, destination(arn)); got != want {
			t.Errorf("%s: %s", arn, got)
		}
	}
	if _, _, err := store.Group(here, "/g/h"); err != nil {
		t.Error(err)
	}
	if err := store.DeleteGroup(here, "/g/h"); err != nil {
		t.Fatal(err)
	}
	if got := create("n", destination("arn:aws:logs:us-east-1:123456789012:log-group:/g/h:*")); got != missing {
		t.Error(got)
	}
}
