package cloudwatch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// queried returns the results of a query as label:values, separated by semicolons, or the error's text.
func (b *bench) queried(expressions ...string) string {
	b.t.Helper()
	in := &client.GetMetricDataInput{StartTime: sdk.Time(epoch), EndTime: sdk.Time(epoch.Add(2 * time.Minute)),
		ScanBy: types.ScanByTimestampAscending}
	for i, e := range expressions {
		in.MetricDataQueries = append(in.MetricDataQueries, types.MetricDataQuery{Id: sdk.String(fmt.Sprintf("q%d", i)), Expression: &e,
			Period: sdk.Int32(60), ReturnData: sdk.Bool(i == len(expressions)-1)})
	}
	out, err := b.GetMetricData(b.t.Context(), in)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, r := range out.MetricDataResults {
		all = append(all, fmt.Sprintf("%s:%v", *r.Label, r.Values))
	}
	return strings.Join(all, "; ")
}

// TestMetricsInsights: a query aggregates the metrics that it selects, in total or by group, in order and up to a
// limit.
func TestMetricsInsights(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for minute := 0.0; minute < 2; minute++ {
		b.put("Errors", 1+minute, "Queue", "a", "Zone", "1")
		b.put("Errors", 3+minute, "Queue", "a", "Zone", "2")
		b.put("Errors", 10, "Queue", "b", "Zone", "1")
		b.put("Errors", 100, "Queue", "b")
		b.put("Errors", 1000)
		b.put("Other", 5, "Queue", "a")
		b.pass(time.Minute)
	}
	for query, want := range map[string]string{
		`SELECT SUM(Errors) FROM App`:                                                      "q0:[1114 1116]",
		`select max(Errors) from "App" where Queue = 'a'`:                                  "q0:[3 4]",
		`SELECT AVG(Errors) FROM SCHEMA(App, Queue, Zone)`:                                 "q0:[4.666666666666667 5.333333333333333]",
		`SELECT COUNT(Errors) FROM SCHEMA("App", Zone, Queue) WHERE Queue != 'b'`:          "q0:[2 2]",
		`SELECT SUM(Errors) FROM App GROUP BY Queue`:                                       "a:[4 6]; b:[110 110]",
		`SELECT SUM(Errors) FROM App GROUP BY Queue, Zone ORDER BY MAX() DESC LIMIT 2`:     "b 1:[10 10]; a 2:[3 4]",
		`SELECT MIN(Errors) FROM App WHERE Zone = '1' GROUP BY Queue ORDER BY SUM()`:       "a:[1 2]; b:[10 10]",
		`SELECT SUM(Errors) FROM App WHERE Queue = 'a' AND Zone = '2' ORDER BY SUM() DESC`: "q0:[3 4]",
		`SELECT SUM(None) FROM App`:                                                        "",
	} {
		if got := b.queried(query); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
		}
	}
	if got := b.queried(`SELECT SUM(Errors) FROM App GROUP BY Queue`, `SUM(q0) / 2`); got != "q1:[57 58]" {
		t.Errorf("metric math over a query is %s", got)
	}
	for query, want := range map[string]string{
		`SELECT Errors FROM App`:                         "has Errors where AVG, COUNT, MAX, MIN or SUM is expected",
		`SELECT SUM() FROM App`:                          "selects no metric",
		`SELECT SUM(Errors)`:                             "has the end where FROM is expected",
		`SELECT SUM(Errors) FROM App WHERE Queue = "a"`:  `has "a" where a value in single quotes is expected`,
		`SELECT SUM(Errors) FROM App WHERE Queue > 'a'`:  "has > where = or != is expected",
		`SELECT SUM(Errors) FROM App LIMIT 501`:          "has 501 where a number from 1 to 500 is expected",
		`SELECT SUM(Errors) FROM App GROUP BY tag.Owner`: "tag.Owner is not available",
		`SELECT SUM(Errors) FROM App OR`:                 "has OR where the end is expected",
		`SELECT SUM(Errors) FROM App WHERE Queue = 'a`:   "cannot be read",
	} {
		if got := b.queried(query); !strings.Contains(got, "ValidationError") || !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
		}
	}
}
