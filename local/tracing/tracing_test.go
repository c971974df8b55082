package tracing_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/xray"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/documents"
	"stepback/local/services/lambda/runner"
	"stepback/local/services/xray"
	"stepback/local/tracing"
)

const header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"

// document holds the parts of a document that the tests check.
type document struct {
	Name, ID, Type, Origin string
	ParentID               string `json:"parent_id"`
	TraceID                string `json:"trace_id"`
	Throttle               bool
	Subsegments            []document
}

func read(t *testing.T, documents [][]byte) []document {
	t.Helper()
	all := make([]document, len(documents))
	for i, text := range documents {
		if err := json.Unmarshal(text, &all[i]); err != nil {
			t.Fatal(err)
		}
		if len(text) > 64<<10 {
			t.Errorf("a document has %d bytes, more than X-Ray takes", len(text))
		}
	}
	return all
}

// long returns an execution with many Pass states.
func long(states int) (*journal.Execution, []history.Event) {
	begun := time.Unix(1_700_000_000, 0)
	x := &journal.Execution{Status: history.Succeeded, Start: begun, Stop: begun.Add(time.Hour)}
	x.ARN, x.MachineARN = "arn:aws:states:eu-west-1:123456789012:execution:m:e", "arn:aws:states:eu-west-1:123456789012:stateMachine:m"
	x.TraceHeader = header
	var events []history.Event
	add := func(typ history.Type, name string) {
		n := int64(len(events))
		events = append(events, history.Event{ID: n + 1, Previous: n, Type: typ, Name: name,
			Time: begun.Add(time.Duration(n) * time.Millisecond).UnixNano()})
	}
	add(history.ExecutionStarted, "")
	for i := range states {
		add(history.PassStateEntered, "State"+strconv.Itoa(i))
		add(history.PassStateExited, "State"+strconv.Itoa(i))
	}
	add(history.ExecutionSucceeded, "")
	return x, events
}

func none(string, int64) string { return "" }

func TestAnExecutionIsOneDocument(t *testing.T) {
	t.Parallel()
	x, events := long(2)
	got := read(t, tracing.Execution(x, events, none))
	if len(got) != 1 || got[0].Name != "m" || got[0].ParentID != "53995c3f42cd8ad8" ||
		got[0].TraceID != "1-5759e988-bd862e3fe1be46a994272793" || got[0].Origin != tracing.MachineType ||
		len(got[0].Subsegments) != 2 || got[0].Subsegments[1].Name != "State1" {
		t.Errorf("%+v", got)
	}
	again := read(t, tracing.Execution(x, events, none))
	if again[0].ID != got[0].ID || again[0].Subsegments[1].ID != got[0].Subsegments[1].ID {
		t.Error("what is sent again, after a redrive, has other IDs")
	}
	x.TraceHeader = "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0"
	if got := tracing.Execution(x, events, none); got != nil {
		t.Errorf("a trace that is not recorded has %d documents", len(got))
	}
}

// TestALongExecutionIsSplit traces an execution with more states than fit into one X-Ray document, and one with too
// many to send at all.
func TestALongExecutionIsSplit(t *testing.T) {
	t.Parallel()
	for states, want := range map[int]int{2000: 2001, 20_000: 0} {
		x, events := long(states)
		documents := tracing.Execution(x, events, none)
		got, size := read(t, documents), 0
		for i, d := range got {
			size += len(documents[i])
			if i > 0 && (d.Type != "subsegment" || d.ParentID != got[0].ID || d.TraceID != got[0].TraceID) {
				t.Fatalf("document %d is %+v", i, d)
			}
		}
		if want > 0 && len(got) != want || size > 500<<10 || len(got) < 2000 {
			t.Errorf("%d states: %d documents, %d bytes", states, len(got), size)
		}
	}
}

func TestAThrottledInvocation(t *testing.T) {
	t.Parallel()
	trace, _ := aws.ParseTrace(header)
	got := read(t, tracing.Invocation(&runner.Ran{Function: "f", Throttled: true, Trace: trace,
		ARN: "arn:aws:lambda:eu-west-1:123456789012:function:f"}, time.Unix(1_700_000_000, 0)))
	if len(got) != 1 || !got[0].Throttle || got[0].Origin != "AWS::Lambda" || got[0].ParentID != trace.Parent {
		t.Errorf("%+v", got)
	}
}

// TestDatagramsBeforeCloseAreStored closes a tracer to which functions have just sent segments.
func TestDatagramsBeforeCloseAreStored(t *testing.T) {
	t.Parallel()
	store, err := documents.Open("/documents", vfs.NewMem())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := func() time.Time { return time.Unix(0x6922c600, 0) }
	scope := aws.Scope{Account: "123456789012", Region: "eu-west-1"}
	x := xray.New(xray.Options{Store: store, Now: now, Scope: scope})
	tr := tracing.New(t.Context(), x, scope, now, slog.New(slog.DiscardHandler))
	daemon, err := (&net.Dialer{}).DialContext(t.Context(), "udp", tr.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	const trace, sent = "1-6922c600-000000000000000000000001", 50
	for i := range sent {
		if _, err := fmt.Fprintf(daemon, "{\"format\":\"json\",\"version\":1}\n"+`{"name":"n","id":"%016x","type":"subsegment",`+
			`"trace_id":"`+trace+`","parent_id":"53995c3f42cd8ad8","start_time":1,"end_time":2}`, i+1); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	endpoint := "http://xray"
	c := client.New(client.Options{Region: scope.Region, BaseEndpoint: &endpoint,
		HTTPClient: loopback.Client(x.Handler()), Credentials: credentials.NewStaticCredentialsProvider(scope.Account, "s", "")})
	got, err := c.BatchGetTraces(t.Context(), &client.BatchGetTracesInput{TraceIds: []string{trace}})
	if err != nil || len(got.Traces) != 1 || len(got.Traces[0].Segments) != sent {
		t.Errorf("%+v, %v", got, err)
	}
}
