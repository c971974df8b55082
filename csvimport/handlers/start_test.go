package handlers_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"stepback/csvimport/handlers"
)

// executions remembers execution names, as Step Functions does.
type executions struct {
	inputs map[string]string
	err    error
}

func (e *executions) Start(_ context.Context, name, input string) (bool, error) {
	if _, ok := e.inputs[name]; ok || e.err != nil {
		return false, e.err
	}
	e.inputs[name] = input
	return true, nil
}

const created = `{"version":"0","id":"1","detail-type":"Object Created","source":"aws.s3","account":"123456789012",
	"time":"2026-11-21T10:00:00Z","region":"us-east-1","resources":["arn:aws:s3:::in"],"detail":{"version":"0",
	"bucket":{"name":"in"},"object":{"key":"uploads/users.csv","size":5,"etag":"9e107d9d372bb6826bd81d3542a419d6","sequencer":"00"},
	"request-id":"R","requester":"123456789012","source-ip-address":"127.0.0.1","reason":"PutObject"}}`

func TestStartStartsOncePerFile(t *testing.T) {
	t.Parallel()
	e := &executions{inputs: map[string]string{}}
	start := handlers.Start(e, nil, nil)
	for _, want := range []string{
		`{"execution":"users-csv-72edfb265f5099a5811da291b4d492b4","repeated":false}`,
		`{"execution":"users-csv-72edfb265f5099a5811da291b4d492b4","repeated":true}`,
	} {
		got, err := start.Invoke(t.Context(), []byte(created))
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	// An equal file of another bucket is another file.
	got, err := start.Invoke(t.Context(), []byte(strings.Replace(created, `"bucket":{"name":"in"}`, `"bucket":{"name":"in-2"}`, 1)))
	if err != nil || !strings.HasSuffix(string(got), `"repeated":false}`) || len(e.inputs) != 2 {
		t.Errorf("another bucket: %s, %v", got, err)
	}
	const input = `{"bucket":"in","key":"uploads/users.csv","etag":"9e107d9d372bb6826bd81d3542a419d6"}`
	if got := e.inputs["users-csv-72edfb265f5099a5811da291b4d492b4"]; got != input {
		t.Errorf("input %s, want %s", got, input)
	}
}

// TestStartOfAManifest: a manifest starts an import of many files, once per version of it.
func TestStartOfAManifest(t *testing.T) {
	t.Parallel()
	one, many := &executions{inputs: map[string]string{}}, &executions{inputs: map[string]string{}}
	event := strings.Replace(created, "uploads/users.csv", "november.manifest", 1)
	start := handlers.Start(one, many, nil)
	for _, repeated := range []string{"false", "true"} {
		got, err := start.Invoke(t.Context(), []byte(event))
		if err != nil || string(got) != `{"execution":"november-manifest-e0b2cea56bb3634661012a8349721149","repeated":`+repeated+`}` {
			t.Errorf("got %s, %v", got, err)
		}
	}
	const input = `{"manifest":"november.manifest","etag":"9e107d9d372bb6826bd81d3542a419d6"}`
	if got := many.inputs["november-manifest-e0b2cea56bb3634661012a8349721149"]; got != input || len(one.inputs) != 0 {
		t.Errorf("input %s, want %s; of files: %v", got, input, one.inputs)
	}
	_, err := handlers.Start(one, nil, nil).Invoke(t.Context(), []byte(event))
	var f messages.InvokeResponse_Error
	if !errors.As(err, &f) || f.Type != "InvalidInput" || !strings.HasPrefix(f.Message, "november.manifest is a manifest, and here is no") {
		t.Errorf("without a state machine of many files: %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event   string
		err     error
		want    string
		message string
	}{
		"another event": {
			event: `{"source":"aws.s3","detail-type":"Object Deleted"}`, want: "InvalidInput",
			message: `the event is "Object Deleted" of "aws.s3", expected "Object Created" of "aws.s3": correct the rule's pattern`,
		},
		"no ETag": {
			event: `{"id":"7","source":"aws.s3","detail-type":"Object Created","detail":{"bucket":{"name":"b"},"object":{"key":"k"}}}`,
			want:  "InvalidInput", message: "the event 7 has no detail.object.etag",
		},
		"Step Functions is away": {event: created, err: errors.New("no answer"), want: "UnexpectedError",
			message: "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := handlers.Start(&executions{inputs: map[string]string{}, err: c.err}, nil, nil).Invoke(t.Context(),
				[]byte(c.event))
			var failure messages.InvokeResponse_Error
			if !errors.As(err, &failure) || failure.Type != c.want || failure.Message != c.message {
				t.Errorf("got %#v, want %s: %s", err, c.want, c.message)
			}
		})
	}
}
