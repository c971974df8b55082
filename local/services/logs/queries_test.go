package logs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stepback/local/services/logs/logstore"
)

// TestQueriesOfInsights runs a query over two groups and reads it with all operations.
func TestQueriesOfInsights(t *testing.T) {
	t.Parallel()
	s := serve(t)
	at := now.UnixMilli()
	for _, g := range []string{"/a", "/b"} {
		if err := s.store.CreateGroup(home, logstore.Group{Name: g}); err != nil {
			t.Fatal(err)
		}
		if err := s.store.Append(home, g, "s"+g, []logstore.Event{{Time: at, Ingestion: at, Message: `{"level":"ERROR","ms":20}`},
			{Time: at + 1000, Ingestion: at, Message: `{"level":"INFO","ms":10}`},
			{Time: at + 5000, Ingestion: at, Message: `{"level":"ERROR","ms":30}`}}); err != nil {
			t.Fatal(err)
		}
	}
	start := func(query string, more string) map[string]any {
		t.Helper()
		text, err := json.Marshal(query)
		if err != nil {
			t.Fatal(err)
		}
		return s.call("StartQuery", fmt.Sprintf(`{"startTime":%d,"endTime":%d,"queryString":%s%s}`, at/1000, at/1000+4, text, more))
	}
	const both = `,"logGroupNames":["/a","/b"]`
	id := start(`filter level = "ERROR" | stats count(*) as n, avg(ms) by @log | sort @log`, both)["queryId"]
	got := s.call("GetQueryResults", fmt.Sprintf(`{"queryId":%q}`, id))
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"queryLanguage":"CWLI","results":[` +
		`[{"field":"@log","value":"000000000000:/a"},{"field":"n","value":"1"},{"field":"avg(ms)","value":"20"}],` +
		`[{"field":"@log","value":"000000000000:/b"},{"field":"n","value":"1"},{"field":"avg(ms)","value":"20"}]],` +
		`"statistics":{"bytesScanned":98,"logGroupsScanned":2,"recordsMatched":2,"recordsScanned":4},"status":"Complete"}`
	if string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	newest := start("fields ms | limit 1", `,"logGroupIdentifiers":["arn:aws:logs:us-east-1:000000000000:log-group:/a"]`)["queryId"]
	if text, _ := json.Marshal(s.call("GetQueryResults", fmt.Sprintf(`{"queryId":%q}`, newest))["results"]); !strings.Contains(string(text),
		`{"field":"ms","value":"10"},{"field":"@ptr"`) {
		t.Errorf("%s", text)
	}
	if text, _ := json.Marshal(s.call("DescribeQueries", `{"logGroupName":"/b"}`)); !strings.Contains(string(text), id.(string)) ||
		strings.Contains(string(text), newest.(string)) || !strings.Contains(string(text), `"status":"Complete"`) {
		t.Errorf("%s", text)
	}
	for _, c := range []struct{ operation, in, want string }{
		{"StopQuery", fmt.Sprintf(`{"queryId":%q}`, id), "Query is not running"},
		{"GetQueryResults", `{"queryId":"0f7c1a7e-1111-4222-8333-444455556666"}`, "does not exist"},
		{"StartQuery", `{"startTime":1,"endTime":2,"queryString":"fields x","logGroupName":"/none"}`,
			"Log group '/none' does not exist for account ID '000000000000'"},
		{"StartQuery", `{"startTime":1,"endTime":2,"queryString":"fields x"}`, "Exactly one of logGroupName"},
		{"StartQuery", `{"startTime":3,"endTime":2,"queryString":"fields x","logGroupName":"/a"}`, "End time"},
		{"StartQuery", `{"startTime":1,"endTime":2,"queryString":"select 1","logGroupName":"/a","queryLanguage":"SQL"}`,
			"Queries in SQL are not supported here"},
		{"StartQuery", `{"startTime":1,"endTime":2,"queryString":"fields x | anomaly","logGroupName":"/a"}`,
			`"queryCompileError":{"location":{"endCharOffset":18,"startCharOffset":11},"message":"the command anomaly is not supported here"}`},
	} {
		text, err := json.Marshal(s.call(c.operation, c.in))
		if err != nil || !strings.Contains(string(text), c.want) {
			t.Errorf("%s %s: %s, want %s", c.operation, c.in, text, c.want)
		}
	}
}

func TestResourcePolicies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const document = `{"Version":"2012-10-17"}`
	put := func(name, document string) string {
		text, err := json.Marshal(s.call("PutResourcePolicy", fmt.Sprintf(`{"policyName":%q,"policyDocument":%q}`, name, document)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := put("p", document); !strings.Contains(got, `"policyName":"p"`) {
		t.Error(got)
	}
	if got := put("p", "{"); !strings.Contains(got, "not valid JSON") {
		t.Error(got)
	}
	for i := range 9 {
		put(fmt.Sprint("p", i), document)
	}
	if got := put("another", document); !strings.Contains(got, "LimitExceededException") {
		t.Error(got)
	}
	first := s.call("DescribeResourcePolicies", `{"limit":4}`)
	second := s.call("DescribeResourcePolicies", fmt.Sprintf(`{"nextToken":%q}`, first["nextToken"]))
	if len(first["resourcePolicies"].([]any)) != 4 || len(second["resourcePolicies"].([]any)) != 6 || second["nextToken"] != nil {
		t.Errorf("%v, %v", first, second)
	}
	if got := s.call("DeleteResourcePolicy", `{"policyName":"p"}`); len(got) != 0 {
		t.Error(got)
	}
	if got := s.call("DeleteResourcePolicy", `{"policyName":"p"}`); got["message"] != "Policy with name [p] does not exist." {
		t.Error(got)
	}
}

func TestSpaceDelimitedPatterns(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const line = `127.0.0.1 - frank [10/Oct/2000:13:25:15 -0700] "GET /index.html HTTP/1.0" 404 1534`
	for pattern, want := range map[string]bool{
		`[ip, user, username, timestamp, request, status_code, bytes]`:                        true,
		`[ip, user, username, timestamp, request, status_code, bytes > 1000]`:                 true,
		`[ip, user, username, timestamp, request, status_code, bytes < 1000]`:                 false,
		`[ip, user, username, timestamp, request = *html*, status_code = 4*, bytes]`:          true,
		`[ip, user, username, timestamp, request, status_code = 404 || status_code = 410, b]`: true,
		`[ip, user, username, timestamp, request, status_code = 400 || status_code = 410, b]`: false,
		`[..., status_code = 4*, bytes]`:                                                      true,
		`[ip != 127.0.0.1, ...]`:                                                              false,
		`[ip = %127\.0\.0\.[0-9]%, ...]`:                                                      true,
		`[..., bytes >= 1534 && bytes <= 1534]`:                                               true,
		`[..., request = "GET /index.html HTTP/1.0", s, b]`:                                   true,
		`[ip, user]`: false,
	} {
		p, err := json.Marshal(map[string]any{"filterPattern": pattern, "logEventMessages": []string{line}})
		if err != nil {
			t.Fatal(err)
		}
		got := s.call("TestMetricFilter", string(p))
		matches, _ := got["matches"].([]any)
		if (len(matches) == 1) != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
	for _, pattern := range []string{`[ip`, `[ip, ..., ...]`, `[ip > x]`, `[a = 1 || b = 2]`, `[=]`, `[a = 1 ||]`} {
		p, err := json.Marshal(map[string]any{"filterPattern": pattern, "logEventMessages": []string{line}})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.call("TestMetricFilter", string(p)); got["message"] != "Invalid filter pattern" {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}
