package executions_test

import (
	"strings"
	"testing"

	"stepback/local/services/stepfunctions/wiretest"
)

// pagesOf reads all pages of a history. It returns the number of events on each page, and the IDs of all events.
func pagesOf(t *testing.T, w wiretest.Wire, arn any, maxResults int, reverse bool) (sizes []int, ids []float64) {
	t.Helper()
	request := map[string]any{"executionArn": arn, "maxResults": maxResults, "reverseOrder": reverse}
	for {
		a := w.Call(t, "GetExecutionHistory", request)
		events, ok := a["events"].([]any)
		if !ok {
			t.Fatal(a)
		}
		sizes = append(sizes, len(events))
		for _, e := range events {
			ids = append(ids, e.(map[string]any)["id"].(float64))
		}
		if a["nextToken"] == nil {
			return sizes, ids
		}
		request["nextToken"] = a["nextToken"]
	}
}

// TestLargeHistories pages through a history that is too large for a single response.
func TestLargeHistories(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	var states strings.Builder
	for i := range 40 {
		states.WriteString(`"` + strings.Repeat("S", i+1) + `":{"Type":"Pass","Next":"` + strings.Repeat("S", i+2) +
			`"},`)
	}
	machine := w.Machine(t, "m", `{"StartAt":"S","States":{`+states.String()+`"`+strings.Repeat("S", 41)+
		`":{"Type":"Pass","End":true}}}`)
	d := w.Run(t, machine, wiretest.Text(wiretest.MaxPayload))
	const events = 84 // a start and an end, and two for each state
	for _, reverse := range []bool{false, true} {
		sizes, ids := pagesOf(t, w, d["executionArn"], 1000, reverse)
		if len(sizes) != 2 || len(ids) != events {
			t.Errorf("pages of %v events", sizes)
		}
		for i, id := range ids {
			if want := i + 1; !reverse && int(id) != want || reverse && int(id) != events-i {
				t.Fatalf("event %v in place %d", id, i)
			}
		}
	}
	w.Call(t, "GetExecutionHistory", map[string]any{"executionArn": d["executionArn"],
		"maxResults": 50}) // the next page is never requested
	if sizes, _ := pagesOf(t, w, d["executionArn"], 40, false); len(sizes) != 3 {
		t.Errorf("pages of %v events", sizes)
	}
}

// TestPagesOfAHistoryThatGrows pages through the history of an execution that is redriven in the meantime.
func TestPagesOfAHistoryThatGrows(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	arn := w.Run(t, w.Machine(t, "m", wiretest.Failing), "{}")["executionArn"]
	first := w.Call(t, "GetExecutionHistory", map[string]any{"executionArn": arn, "maxResults": 2})
	if a := w.Call(t, "RedriveExecution", map[string]any{"executionArn": arn}); a["redriveDate"] == nil {
		t.Fatal(a)
	}
	for w.Call(t, "DescribeExecution", map[string]any{"executionArn": arn})["status"] != "FAILED" {
	}
	a := w.Call(t, "GetExecutionHistory", map[string]any{"executionArn": arn, "maxResults": 2,
		"nextToken": first["nextToken"]})
	var types []string
	for _, e := range a["events"].([]any) {
		types = append(types, e.(map[string]any)["type"].(string))
	}
	if got := strings.Join(types, " "); got != "ExecutionFailed ExecutionRedriven" {
		t.Errorf("%s: %v", got, a)
	}
}
