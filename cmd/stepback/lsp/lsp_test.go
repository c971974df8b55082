package lsp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	l := newLines("a😀b\r\ncé\rd\n")
	for _, c := range []struct {
		offset          int
		line, character uint32
	}{{0, 0, 0}, {1, 0, 1}, {5, 0, 3}, {6, 0, 4}, {8, 1, 0}, {9, 1, 1}, {11, 1, 2}, {12, 2, 0}, {14, 3, 0}} {
		p := protocol.Position{Line: c.line, Character: c.character}
		if got := l.position(c.offset); got != p {
			t.Errorf("offset %d is at %v, want %v", c.offset, got, p)
		}
		if got := l.offset(p); got != c.offset {
			t.Errorf("%v is at offset %d, want %d", p, got, c.offset)
		}
	}
	for p, want := range map[protocol.Position]int{{Line: 0, Character: 99}: 6, {Line: 0, Character: 2}: 1,
		{Line: 9}: 14, {Line: 2, Character: 7}: 13} {
		if got := l.offset(p); got != want {
			t.Errorf("%v is clamped to %d, want %d", p, got, want)
		}
	}
}

func TestPathOf(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{"file:///a/b%20c.json": "/a/b c.json", "file:///c%3A/x.json": "c:/x.json", "untitled:x.asl.json": "x.asl.json"} {
		if got := pathOf(uri); got != want {
			t.Errorf("%s is %s, want %s", uri, got, want)
		}
	}
}

// long returns a definition of about 5,000 lines with Task states that have retriers.
func long() string {
	var b strings.Builder
	b.WriteString("{\n  \"StartAt\": \"S0\",\n  \"States\": {\n")
	const states = 250
	for i := range states {
		fmt.Fprintf(&b, `    "S%d": {
      "Type": "Task",
      "Comment": "pays the order",
      "Resource": "arn:aws:states:::lambda:invoke",
      "Parameters": {
        "FunctionName": "pay",
        "Payload.$": "$.order"
      },
      "TimeoutSeconds": 30,
      "Retry": [
        {
          "ErrorEquals": ["Lambda.TooManyRequestsException"],
          "IntervalSeconds": 2,
          "MaxAttempts": 3,
          "BackoffRate": 2,
          "JitterStrategy": "FULL"
        }
      ],
      "Next": "S%d"
    },
`, i, i+1)
	}
	fmt.Fprintf(&b, "    \"S%d\": {\n      \"Type\": \"Succeed\"\n    }\n  }\n}\n", states)
	return b.String()
}

// BenchmarkKeystroke measures the time from a change of a definition of 5,000 lines until its diagnostics arrive at the
// editor, with its 95th percentile. Each change types or deletes a character of a comment, at another line.
func BenchmarkKeystroke(b *testing.B) {
	e := edits(b)
	const uri, commentLine, stateLines = "file:///long.asl.json", 5, 20
	text := long()
	e.opens(uri, text)
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		place := at(uint32(commentLine+n/2%250*stateLines), 20)
		end, typed := place, "x"
		if n%2 == 1 {
			end, typed = at(place.Line, place.Character+1), ""
		}
		start := time.Now()
		e.changes(uri, n+2, map[string]any{"text": typed, "range": protocol.Range{Start: place, End: end}})
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(strings.Count(text, "\n")), "lines")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}
