package console_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/local"
)

// BenchmarkPages asks for the first page, the list of many executions and the page of an execution of 25,000 events,
// and tells how many bytes each has compressed. It makes 100,000
// executions; lists are read from an index, whose first page does not depend on their number.
func BenchmarkPages(b *testing.B) {
	const executions = 100_000
	dir := b.TempDir()
	kept, err := pebble.Open(filepath.Join(dir, "journal"), pebble.Options{})
	if err != nil {
		b.Fatal(err)
	}
	d := journal.NewDefinition("many", "arn:aws:iam::000000000000:role/r", stuck, false)
	put := func(name string, at time.Time, events []history.Event) string {
		x := &journal.Execution{Info: history.Info{ARN: history.ExecutionARN(machineARN+"many", name),
			MachineARN: machineARN + "many", Origin: history.Origin{Name: name, Input: "{}"}, Definition: d.ID},
			Status: history.Failed, Start: at, Stop: at.Add(time.Second), Failure: history.NewFailure("Boom", "")}
		kept.Commit(&journal.Record{Execution: x, Definition: d, Begin: true, End: true, All: events, History: events},
			func(err error) {
				if err != nil {
					b.Error(err)
				}
			})
		return x.ARN
	}
	few := []history.Event{{ID: 1, Type: history.ExecutionStarted}, {ID: 2, Previous: 1, Type: history.ExecutionFailed}}
	begin := time.Now().Add(-time.Hour)
	for i := range executions {
		put(fmt.Sprint("x-", i), begin.Add(time.Duration(i)*time.Millisecond), few)
	}
	events := []history.Event{{ID: 1, Type: history.ExecutionStarted, Data: "{}"}}
	for id := int64(2); id+5 < 25_000; id += 5 {
		at := begin.UnixNano() + id*1e6
		events = append(events,
			history.Event{ID: id, Previous: id - 1, Time: at, Type: history.TaskStateEntered, Name: "Charge", Data: `{"a":1}`},
			history.Event{ID: id + 1, Previous: id, Time: at, Type: history.TaskScheduled, Data: `{}`},
			history.Event{ID: id + 2, Previous: id + 1, Time: at, Type: history.TaskStarted},
			history.Event{ID: id + 3, Previous: id + 2, Time: at + 5e5, Type: history.TaskSucceeded, Data: `{}`},
			history.Event{ID: id + 4, Previous: id + 3, Time: at + 6e5, Type: history.TaskStateExited, Name: "Charge", Data: `{}`})
	}
	long := put("long", time.Now(), events)
	if err := kept.Close(); err != nil {
		b.Fatal(err)
	}
	p, err := local.Open(context.Background(), local.Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Close() })
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", strings.NewReader(
		`{"name":"many","roleArn":"arn:aws:iam::000000000000:role/r","definition":`+fmt.Sprintf("%q", strings.ReplaceAll(stuck, "\n\t", ""))+`}`))
	r.Host = "127.0.0.1"
	r.Header.Set("X-Amz-Target", "AWSStepFunctions.CreateStateMachine")
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	made := httptest.NewRecorder()
	if p.Handler().ServeHTTP(made, r); made.Code != http.StatusOK {
		b.Fatal(made.Body)
	}
	for name, path := range map[string]string{
		"tonight": "", "list": "machines/many", "filtered": "machines/many?error=Boom&since=2h",
		"execution": "executions/" + url.PathEscape(long), "events": "executions/" + url.PathEscape(long) + "?tab=events&from=20001",
	} {
		b.Run(name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/_stepback/"+path, nil)
				r.Host = "127.0.0.1"
				r.Header.Set("Accept-Encoding", "gzip")
				w := httptest.NewRecorder()
				p.Handler().ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
				size = w.Body.Len()
				if z, err := gzip.NewReader(w.Body); err != nil {
					b.Fatal(err)
				} else if text, err := io.ReadAll(z); err != nil || !strings.Contains(string(text), "</html>") {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
