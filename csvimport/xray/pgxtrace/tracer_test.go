package pgxtrace_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/jackc/pgx/v5"

	"stepback/csvimport/handlers"
	"stepback/csvimport/xray"
	"stepback/csvimport/xray/pgxtrace"
)

// listen starts a daemon; next returns the next datagram it receives.
func listen(t *testing.T) (address string, next func() map[string]any) {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no UDP here: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.LocalAddr().String(), func() map[string]any {
		buffer := make([]byte, 1<<16)
		n, _, err := l.ReadFrom(buffer)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(string(buffer[:n]), "\n")
		if head != `{"format": "json", "version": 1}` {
			t.Errorf("the datagram begins with %s", head)
		}
		var s map[string]any
		if err := json.Unmarshal([]byte(body), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// invocation returns a context as aws-lambda-go creates it.
func invocation(header string) context.Context {
	return context.WithValue(context.Background(), "x-amzn-trace-id", header) //nolint:staticcheck // as it does
}

func TestConnectionsAreSubsegments(t *testing.T) {
	t.Parallel()
	address, next := listen(t)
	tracer := pgxtrace.New(&xray.Tracer{Address: address})
	config, err := pgx.ParseConfig("postgres://app@db.example:5432/csv")
	if err != nil {
		t.Fatal(err)
	}
	const header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
	ctx := tracer.TraceConnectStart(invocation(header), pgx.TraceConnectStartData{ConnConfig: config})
	tracer.TraceConnectEnd(ctx, pgx.TraceConnectEndData{Err: errors.New("refused")})
	s := next()
	if s["name"] != "csv@db.example" || s["trace_id"] != "1-5759e988-bd862e3fe1be46a994272793" ||
		s["parent_id"] != "53995c3f42cd8ad8" || s["type"] != "subsegment" || s["fault"] != true ||
		len(s["id"].(string)) != 16 || s["start_time"].(float64) > s["end_time"].(float64) {
		t.Errorf("%v", s)
	}
	// Traces that are not recorded are not sent: the next datagram belongs to the last call.
	for _, header := range []string{"", "Root=1-a;Parent=b;Sampled=0", "Root=1-a;Sampled=1", "garbage"} {
		ctx := tracer.TraceConnectStart(invocation(header), pgx.TraceConnectStartData{ConnConfig: config})
		tracer.TraceConnectEnd(ctx, pgx.TraceConnectEndData{})
	}
	config.Database = "last"
	ctx = tracer.TraceConnectStart(invocation(header), pgx.TraceConnectStartData{ConnConfig: config})
	tracer.TraceConnectEnd(ctx, pgx.TraceConnectEndData{})
	if s := next(); s["name"] != "last@db.example" || s["fault"] != nil {
		t.Errorf("%v", s)
	}
}

func TestWithoutADaemon(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig("postgres://app@db.example:5432/csv")
	if err != nil {
		t.Fatal(err)
	}
	tracer := pgxtrace.New(&xray.Tracer{})
	ctx := tracer.TraceConnectStart(invocation("Root=1-a;Parent=b;Sampled=1"), pgx.TraceConnectStartData{ConnConfig: config})
	tracer.TraceConnectEnd(ctx, pgx.TraceConnectEndData{})
}

// TestAttemptsAreSubsegments: an invocation is an attempt of its state, with the calls to the database below it.
func TestAttemptsAreSubsegments(t *testing.T) {
	t.Parallel()
	address, next := listen(t)
	x := &xray.Tracer{Address: address}
	tracer := pgxtrace.New(x)
	config, err := pgx.ParseConfig("postgres://app@db.example:5432/csv")
	if err != nil {
		t.Fatal(err)
	}
	const header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
	fail := false
	f := handlers.Traced(x, func(ctx context.Context, _ json.RawMessage) (int, error) {
		ctx = tracer.TraceConnectStart(ctx, pgx.TraceConnectStartData{ConnConfig: config})
		tracer.TraceConnectEnd(ctx, pgx.TraceConnectEndData{})
		if fail {
			return 0, messages.InvokeResponse_Error{Type: "RetryNotWorthwhile", Message: "no"}
		}
		return 7, nil
	})
	const event = `{"attempt":{"state":"ProcessSingleUserRecord","retries":2,"entered":"2026-01-01T00:00:00Z"},"row":1}`
	if out, err := f(invocation(header), json.RawMessage(event)); out != 7 || err != nil {
		t.Fatal(out, err)
	}
	call, attempt := next(), next()
	if attempt["name"] != "ProcessSingleUserRecord" || attempt["parent_id"] != "53995c3f42cd8ad8" ||
		call["parent_id"] != attempt["id"] || call["trace_id"] != attempt["trace_id"] || attempt["fault"] != nil {
		t.Errorf("call %v, attempt %v", call, attempt)
	}
	if want := map[string]any{"retry_attempt": 3.0, "retry_end": "succeeded"}; !reflect.DeepEqual(attempt["annotations"], want) {
		t.Errorf("annotations are %v, want %v", attempt["annotations"], want)
	}
	fail = true
	if _, err := f(invocation(header), json.RawMessage(event)); err == nil {
		t.Error("the error is lost")
	}
	next()
	want := map[string]any{"retry_attempt": 3.0, "error_type": "RetryNotWorthwhile", "retry_end": "given_up"}
	if attempt := next(); !reflect.DeepEqual(attempt["annotations"], want) || attempt["fault"] != true {
		t.Errorf("%v, want %v", attempt, want)
	}
	// Without a number of the attempt only the call is recorded.
	if _, err := f(invocation(header), json.RawMessage(`{"row":1}`)); err == nil {
		t.Error("the error is lost")
	}
	if s := next(); s["name"] != "csv@db.example" || s["parent_id"] != "53995c3f42cd8ad8" {
		t.Errorf("%v", s)
	}
}
