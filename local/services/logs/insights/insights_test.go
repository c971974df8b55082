package insights_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"stepback/local/services/logs/insights"
)

var epoch = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC).UnixMilli()

// generous are limits that no query of these tests exceeds by chance.
var generous = insights.Limits{Work: 100 << 20, Memory: 10 << 20, Text: 1 << 20, Result: 1 << 20}

// events are ordered newest first.
var events = []insights.Event{
	{Time: epoch + 600_000, Message: "REPORT RequestId: 0f7c1a7e-1111-4222-8333-444455556666\tDuration: 12.50 ms\tBilled Duration: 13 ms\tMemory Size: 128 MB\tMax Memory Used: 60 MB\t", Stream: "c", Log: "1:g", Pointer: "p5"},
	{Time: epoch + 310_000, Message: `{"level":"ERROR","ms":300,"user":{"name":"bert","tags":["x","y"]},"a.b":7}`, Stream: "b", Log: "1:g", Pointer: "p4"},
	{Time: epoch + 120_000, Message: `{"level":"INFO","ms":100,"user":{"name":"anna"}}`, Stream: "a", Log: "1:g", Pointer: "p3"},
	{Time: epoch + 60_000, Message: "GET /orders 500 in 42ms", Stream: "a", Log: "1:g", Pointer: "p2"},
	{Time: epoch, Message: `{"level":"ERROR","ms":20,"user":{"name":"anna"}}`, Stream: "a", Log: "1:g", Pointer: "p1"},
}

// answered runs a query and returns its rows without @ptr, as name=value fields.
func answered(t *testing.T, query string) (string, *insights.Answer) {
	t.Helper()
	q, err := insights.Parse(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	a, err := q.Run(t.Context(), events, 0, generous)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range a.Rows {
		var row []string
		for _, c := range r {
			if c.Field != "@ptr" {
				row = append(row, c.Field+"="+c.Value)
			}
		}
		rows = append(rows, strings.Join(row, " "))
	}
	return strings.Join(rows, "; "), a
}

func TestQueries(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		`fields @timestamp, level | filter level = "ERROR"`:                                                     "@timestamp=2026-11-22 08:05:10.000 level=ERROR; @timestamp=2026-11-22 08:00:00.000 level=ERROR",
		`fields user.name as who | filter ms >= 100 and ms < 300.5 | sort ms`:                                   "who=anna; who=bert",
		`fields user.tags.1, a.b | filter ispresent(a.b)`:                                                       "user.tags.1=y a.b=7",
		`fields ms * 2 + 1 | filter not (ms != 20)`:                                                             "ms * 2 + 1=41",
		`filter @message like /(?i)get \/ord/ | display @logStream`:                                             "@logStream=a",
		`filter @message like "GET" | fields strlen(@message), toupper(level)`:                                  "strlen(@message)=23",
		`filter @message not like "{"  and @type != "REPORT" | fields @log`:                                     "@log=1:g",
		`filter level in ["INFO", "WARN"] | fields @log, 'x' as y`:                                              "@log=1:g y=x",
		`filter level not in ["INFO"] and ispresent(level) | stats count(*)`:                                    "count(*)=2",
		`stats count(*) as n, avg(ms), max(ms), pct(ms, 50) by level | sort n desc, level`:                      "level=ERROR n=2 avg(ms)=160 max(ms)=300 pct(ms, 50)=160; n=2; level=INFO n=1 avg(ms)=100 max(ms)=100 pct(ms, 50)=100",
		`filter ispresent(ms) | stats sum(ms) by bin(5m) as at | sort at`:                                       "at=2026-11-22 08:00:00.000 sum(ms)=120; at=2026-11-22 08:05:00.000 sum(ms)=300",
		`stats count(*) by level | filter level = "ERROR" | display level`:                                      "level=ERROR",
		`stats count_distinct(user.name) as users, min(ms), earliest(user.name), latest(user.name), stddev(ms)`: "users=2 min(ms)=20 earliest(user.name)=anna latest(user.name)=bert stddev(ms)=144.2221",
		`parse @message "GET * * in *ms" as path, status, took | filter status = 500 | display path, took`:      "path=/orders took=42",
		`parse /in (?<took>\d+)ms/ | filter took > 41 | display took`:                                           "took=42",
		`filter ispresent(level) | dedup level | fields level, ms`:                                              "level=ERROR ms=300; level=INFO ms=100",
		`fields @requestId, @billedDuration, @maxMemoryUsed | filter @type = "REPORT"`:                          "@requestId=0f7c1a7e-1111-4222-8333-444455556666 @billedDuration=13 @maxMemoryUsed=60000000",
		"fields `user.name` | limit 2 # a comment":                                                              "; user.name=bert",
		`fields coalesce(level, "none") as l, concat(l, "!") as m | sort @timestamp asc | limit 2`:              "l=ERROR m=ERROR!; l=none m=none!",
		`fields datefloor(@timestamp, 1h) as h | filter @timestamp > 0 | limit 1`:                               "h=2026-11-22 08:00:00.000",
		`stats count(*) by @logStream | stats count(*) as streams`:                                              "streams=3",
		`filter level = "NONE" | stats count(*) as n`:                                                           "n=0",
		`filter 1 = 2`: "",
		`limit 1`:      "@timestamp=2026-11-22 08:10:00.000 @message=REPORT RequestId: 0f7c1a7e-1111-4222-8333-444455556666\tDuration: 12.50 ms\tBilled Duration: 13 ms\tMemory Size: 128 MB\tMax Memory Used: 60 MB\t",
	} {
		if got, _ := answered(t, query); got != want {
			t.Errorf("%s:\n%s, want\n%s", query, got, want)
		}
	}
	if _, a := answered(t, `fields ms | filter ispresent(ms) | limit 1`); a.Matched != 3 || a.Rows[0][1] != (insights.Column{Field: "@ptr", Value: "p4"}) {
		t.Errorf("%+v", a)
	}
}

func TestQueriesThatAreWrong(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		`fields`:                           "unexpected end of the query",
		`fields @message limit 1`:          "unexpected symbol found limit at position 16: | or the end is expected",
		`fields x | patern @message`:       "unexpected symbol found patern at position 11: there is no such command",
		`pattern @message`:                 "the command pattern is not supported here",
		`fields jsonParse(@message)`:       "there is no function jsonParse here",
		`fields count(*)`:                  "the function count can stand in stats only",
		`stats mode(x)`:                    "there is no statistic mode here",
		`stats x`:                          "a statistic such as count(*) is expected",
		`filter x like /[/`:                "cannot be read",
		`filter x like /a`:                 "has no end",
		`filter x = "a`:                    "the text that begins at position 11 has no end",
		`parse @message "a * b" as x, y`:   "the pattern has 1 wildcards and as names 2 fields",
		`limit 0`:                          "a number from 1 to 10000 is expected",
		`stats count(*) by bin(5 parsecs)`: "a time such as 5m",
		`fields substr(x)`:                 "the function substr does not take 1 arguments",
		`filter (a = 1`:                    ") is expected",
	} {
		_, err := insights.Parse(query)
		var e *insights.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) || e.Start > len(query) || e.End > len(query) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`fields @timestamp, a.b as c | filter a like /x/ and not b in [1, "2"] | stats count(*) by bin(5m) | sort c desc | limit 3`)
	f.Add("parse @message \"* b *\" as x, y | dedup x | display `y`, concat(x, 'z')")
	f.Fuzz(func(t *testing.T, query string) {
		if q, err := insights.Parse(query); err == nil {
			_, _ = q.Run(t.Context(), events, 10, generous)
		}
	})
}

func ExampleParse() {
	q, err := insights.Parse(`filter level = "ERROR" | stats count(*) as errors, max(ms) by user.name`)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := q.Run(context.Background(), events, 0, generous)
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Rows)
	// Output: [[{user.name bert} {errors 1} {max(ms) 300}] [{user.name anna} {errors 1} {max(ms) 20}]]
}
