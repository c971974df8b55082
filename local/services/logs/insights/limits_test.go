package insights_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"stepback/local/services/logs/insights"
)

// manyEvents returns n events whose messages are of size bytes.
func manyEvents(n, size int) []insights.Event {
	list := make([]insights.Event, n)
	for i := range list {
		list[i] = insights.Event{Time: epoch - int64(i), Message: fmt.Sprintf("%06d", i) + strings.Repeat("a", size-6), Pointer: "p"}
	}
	return list
}

// TestLimits runs queries whose work or memory grows far beyond the events. Each ends with a named error.
func TestLimits(t *testing.T) {
	t.Parallel()
	a, list := strings.Repeat("a", 20), manyEvents(1000, 1000)
	for query, want := range map[string]string{
		`fields replace(replace(replace(@message,"a","` + a + `"),"a","` + a + `"),"a","` + a + `") as x | sort x`: "builds a value of more than 1048576 bytes",
		`fields replace(@message,"a","` + a + `") as x | sort x`:                                                   "needs more than 10485760 bytes for the fields of its rows",
		`fields concat(@message` + strings.Repeat(",@message", 20) + `) as x | stats count_distinct(x)`:            "needs more than 10485760 bytes for the fields of its rows",
		`parse /(?<a>.*?)x(?<b>.*?)y(?<c>.*?)z(?<d>.*)(a|aa|b){1,50}q/ | stats count(*)`:                           "reads and builds more than 104857600 bytes",
		`filter @message like /(a|aa|b){1,50}q/`:                                                                   "reads and builds more than 104857600 bytes",
		`filter 1 in [` + strings.Repeat("2,", 8000) + `3]`:                                                        "reads and builds more than 104857600 bytes",
		`fields replace(@message, "a", "` + strings.Repeat("a", 2) + `") as x | limit 900`:                         "returns more than 1048576 bytes",
	} {
		q, err := insights.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = q.Run(t.Context(), list, 0, generous)
		var exceeded *insights.LimitError
		if !errors.As(err, &exceeded) || exceeded.Exceeded != want {
			t.Errorf("%.60s: error %v, want %s", query, err, want)
		}
	}
}

// TestLimitBeforeFields computes fields only for the rows that a limit leaves, and still counts all matching events.
func TestLimitBeforeFields(t *testing.T) {
	t.Parallel()
	few := generous
	few.Memory = 40_000 // one row's field
	for query, matched := range map[string]int{
		`filter @message like "1" | fields replace(@message, "a", "` + strings.Repeat("b", 20) + `") as x | limit 1`: 271,
		`fields replace(@message, "a", "` + strings.Repeat("b", 20) + `") as x`:                                      1000,
	} {
		q, err := insights.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := q.Run(t.Context(), manyEvents(1000, 1000), 1, few)
		if err != nil || len(answer.Rows) != 1 || answer.Matched != matched || len(answer.Rows[0][0].Value) != 19_886 {
			t.Errorf("%.60s: %d matched, %v", query, answer.Matched, err)
		}
	}
}

// TestManyWildcards parses with fifty wildcards in one pass over the text.
func TestManyWildcards(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("f%d", i))
	}
	q, err := insights.Parse(`parse "` + strings.Repeat("*-", 50) + `" as ` + strings.Join(names, ",") + ` | stats count(f49), max(f49)`)
	if err != nil {
		t.Fatal(err)
	}
	list := manyEvents(100, 25_000)
	list[7].Message = strings.Repeat("ab-", 60)
	answer, err := q.Run(t.Context(), list, 0, generous)
	if err != nil || fmt.Sprint(answer.Rows) != "[[{count(f49) 1} {max(f49) ab}]]" {
		t.Errorf("%v, %v", answer, err)
	}
}

// TestCancel ends a query whose client has left.
func TestCancel(t *testing.T) {
	t.Parallel()
	q, err := insights.Parse(`filter @message like /(a|aa|b){1,50}q/`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Run(ctx, manyEvents(1000, 1000), 0, generous); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
