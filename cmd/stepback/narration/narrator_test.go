package narration

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"stepback/cmd/stepback/terminal"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// The narrator prints an execution that fails once, is retried and succeeds, and leaves out lines that are too many
// to read.
func TestTheNarrator(t *testing.T) {
	t.Parallel()
	events, err := history.ParseEvents(`[
		{"timestamp": 1000, "type": "ExecutionStarted", "id": 1},
		{"timestamp": 1000, "type": "TaskStateEntered", "id": 2, "stateEnteredEventDetails": {"name": "Charge"}},
		{"timestamp": 1000, "type": "LambdaFunctionScheduled", "id": 3, "previousEventId": 2},
		{"timestamp": 1001, "type": "LambdaFunctionFailed", "id": 4, "previousEventId": 3,
			"lambdaFunctionFailedEventDetails": {"error": "Busy", "cause": "later"}},
		{"timestamp": 1003, "type": "LambdaFunctionScheduled", "id": 5, "previousEventId": 4},
		{"timestamp": 1004, "type": "ExecutionSucceeded", "id": 6, "previousEventId": 5}]`)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	n := NewNarrator(&b, terminal.Screen{})
	x := &journal.Execution{Status: history.Running, Start: time.Unix(1000, 0)}
	x.ARN, x.Name, x.MachineARN = "arn:x", "order-17", "arn:aws:states:us-east-1:0:stateMachine:orders"
	n.Follow(x, events[:3])
	n.Follow(x, events[3:5])
	x.Status, x.Stop = history.Succeeded, time.Unix(1004, 0)
	n.Follow(x, events[5:])
	var got []string
	for line := range strings.Lines(b.String()) {
		_, said, _ := strings.Cut(strings.TrimSpace(line), "  ")
		got = append(got, said)
	}
	want := []string{
		"orders order-17  started", "orders order-17  failing  Charge: failed Busy: later",
		"orders order-17  retrying  Charge: retry 1, 2.000s after the failure", "orders order-17  SUCCEEDED  after 4s",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	b.Reset()
	for range linesASecond + 5 {
		n.line(x, 2000*int64(time.Second), "started", "")
	}
	n.line(x, 2001*int64(time.Second), "started", "")
	if lines := strings.Count(b.String(), "\n"); lines != linesASecond+2 ||
		!strings.Contains(b.String(), "… and 5 more lines") {
		t.Errorf("%d lines:\n%s", lines, b.String())
	}
}
