package httptask_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stepback/engine"
	"stepback/tasks/httptask"
)

type connection httptask.Connection

func (c connection) Find(context.Context, string) (*httptask.Connection, error) {
	found := httptask.Connection(c)
	return &found, nil
}

func TestTrace(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", "today")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("short and stout"))
	}))
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		secrets       bool
		url, mentions string
	}{
		"without secrets": {false, server.URL + "/pot?a=b", ""},
		"with secrets":    {true, server.URL + "/pot?a=b&who=me", "x-key: s3cret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := &httptask.Integration{Region: "r", Connections: connection{
				KeyName: "X-Key", KeyValue: "s3cret",
				Parameters: httptask.Parameters{Query: []httptask.Parameter{{Key: "who", Value: "me"}}},
			}}
			trace := &httptask.Trace{Secrets: c.secrets}
			_, err := i.Invoke(httptask.WithTrace(t.Context(), trace), &engine.Task{Parameters: `{"ApiEndpoint":"` +
				server.URL +
				`/pot?a=b","Method":"POST","RequestBody":{"x":1},"InvocationConfig":{"ConnectionArn":"arn:aws:events:us-east-1:1:connection/c/1"}}`})
			if err == nil || trace.Request == nil || trace.Response == nil {
				t.Fatal(err, trace)
			}
			headers := trace.Request.Headers
			trace.Request.Headers = ""
			if got, want := *trace.Request, (httptask.Request{Protocol: "http", Method: "POST", URL: c.url,
				Body: `{"x":1}`}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if !strings.Contains(headers, "range: bytes=0-262144") || !strings.Contains(headers, c.mentions) ||
				!c.secrets && strings.Contains(headers, "s3cret") {
				t.Error(headers)
			}
			want := httptask.Response{
				Protocol: "http", StatusCode: "418", StatusMessage: "I'm a teapot", Body: "short and stout",
				Headers: "[content-length: 15, content-type: text/plain; charset=utf-8, date: today]",
			}
			if *trace.Response != want {
				t.Errorf("got %+v, want %+v", *trace.Response, want)
			}
		})
	}
}
