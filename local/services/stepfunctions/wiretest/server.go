package wiretest

import (
	"net/http/httptest"
	"testing"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/services/logs/logstore"
	"stepback/local/services/stepfunctions"
)

// Role is a role. Pass, Waiting and Failing are definitions of state machines: one ends at once, one waits for an
// hour, and one fails.
const (
	Role    = "arn:aws:iam::123456789012:role/r"
	Pass    = `{"StartAt":"P","States":{"P":{"Type":"Pass","Result":{"a":1},"End":true}}}` //nolint:gosec // Pass is a state
	Waiting = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}`
	Failing = `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"E","Cause":"C"}}}`
)

// MaxPayload is the maximum size of an input or output, in bytes.
const MaxPayload = 262_144

// Scope is the account and region of requests that name none.
var Scope = aws.Scope{Account: "123456789012", Region: "us-east-1"}

// Server serves the API over engines in real time.
func Server(t *testing.T) (url string) {
	t.Helper()
	url, _ = LoggingServer(t)
	return url
}

// LoggingServer is like Server and also returns the store that executions log to.
func LoggingServer(t *testing.T) (url string, groups *logstore.Store) {
	t.Helper()
	c, j, store := clock.Real(), journal.NewMemory(), stepfunctions.NewMemory()
	groups, err := logstore.Open(t.TempDir(), logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var made []*engine.Engine
	var service *stepfunctions.Service
	service = stepfunctions.New(stepfunctions.Config{
		Logs: groups,
		Open: func(s aws.Scope) (*engine.Engine, error) {
			e, err := engine.New(engine.Config{
				Clock: c, Journal: j, Region: s.Region, Account: s.Account, Activity: stepfunctions.HasActivity(store),
				Follow: service.Follow,
			})
			made = append(made, e)
			return e, err
		},
		Store: store, Now: c.Now, Default: Scope,
	})
	server := httptest.NewServer(service.Handler())
	t.Cleanup(func() {
		server.Close()
		for _, e := range made {
			e.Close()
		}
		c.Close()
		_ = groups.Close()
	})
	return server.URL, groups
}

// LogGroup is the log group that executions log to.
const LogGroup = "/aws/vendedlogs/states/m-Logs"

// Logging returns a loggingConfiguration with a level. data is its includeExecutionData.
func Logging(level string, data bool) map[string]any {
	return map[string]any{"level": level, "includeExecutionData": data, "destinations": []any{
		map[string]any{"cloudWatchLogsLogGroup": map[string]any{"logGroupArn": "arn:aws:logs:us-east-1:123456789012:log-group:" + LogGroup + ":*"}},
	}}
}
