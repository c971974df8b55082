package logs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stepback/local/services/logs/logstore"
)

// TestQueriesSelectTheirLogGroups: SOURCE logGroups selects log groups by prefixes of their names.
func TestQueriesSelectTheirLogGroups(t *testing.T) {
	t.Parallel()
	s := serve(t)
	at := now.UnixMilli()
	for _, g := range []string{"/app/a", "/app/b", "/job/c", "/other"} {
		if err := s.store.CreateGroup(home, logstore.Group{Name: g}); err != nil {
			t.Fatal(err)
		}
		if err := s.store.Append(home, g, "s", []logstore.Event{{Time: at, Ingestion: at, Message: "hello"}}); err != nil {
			t.Fatal(err)
		}
	}
	run := func(query, more string) string {
		t.Helper()
		text, err := json.Marshal(query)
		if err != nil {
			t.Fatal(err)
		}
		started := s.call("StartQuery", fmt.Sprintf(`{"startTime":%d,"endTime":%d,"queryString":%s%s}`, at/1000, at/1000+4, text, more))
		out := started
		if id, ok := started["queryId"]; ok {
			out = s.call("GetQueryResults", fmt.Sprintf(`{"queryId":%q}`, id))
		}
		got, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	for query, want := range map[string]string{
		`SOURCE logGroups(namePrefix: ['/app/']) | stats count(*) as n`:                              `"value":"2"`,
		`source loggroups(namePrefix: ["/app/", '/job'], class: ['STANDARD']) | stats count(*) as n`: `"value":"3"`,
		`SOURCE logGroups(namePrefix: '/nothing') | stats count(*) as n`:                             `"logGroupsScanned":0`,
		`SOURCE logGroups(namePrefix: ['/a'])`:                                                       "one to five prefixes of three or more characters",
		`SOURCE logGroups() | fields x`:                                                              "one to five prefixes",
		`SOURCE logGroups(namePrefix: ['/app'], accountIdentifiers: ['111111111111']) | fields x`:    "accountIdentifiers: ['111111111111'] is not supported here",
		`SOURCE logGroups(namePrefix: ['/app'], class: ['INFREQUENT_ACCESS']) | fields x`:            "class: ['INFREQUENT_ACCESS'] is not supported here",
		`SOURCE logGroups(/app) | fields x`:                                                          "cannot be read from /app on",
	} {
		if got := run(query, ""); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := run(`SOURCE logGroups(namePrefix: ['/app']) | fields x`, `,"logGroupName":"/app/a"`); !strings.Contains(got, "must not be given") {
		t.Errorf("both: %s", got)
	}
}
