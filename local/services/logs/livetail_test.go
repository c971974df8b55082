package logs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"stepback/local/services/logs/logstore"
)

// session is a Live Tail session whose response is decoded while it is written, without a network, so that time can be
// virtual.
type session struct {
	t      *testing.T
	body   io.Reader
	header http.Header
	w      *io.PipeWriter
	end    context.CancelFunc
}

func (s *session) Header() http.Header         { return s.header }
func (*session) WriteHeader(int)               {}
func (s *session) Write(b []byte) (int, error) { return s.w.Write(b) }
func (*session) Flush()                        {}

// tail starts a session.
func (s *served) tail(t *testing.T, parameters string) *session {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	made := &session{t: t, body: r, header: http.Header{}, w: w, end: cancel}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://stepback/", strings.NewReader(parameters))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-amz-json-1.1")
	q.Header.Set("X-Amz-Target", "Logs_20140328.StartLiveTail")
	go func() {
		defer cancel()
		s.handler.ServeHTTP(made, q)
		_ = w.Close()
	}()
	return made
}

// next returns the type of the next event, or of the next exception, and its payload; "" at the end of the stream.
func (s *session) next() (kind, payload string) {
	s.t.Helper()
	m, err := eventstream.NewDecoder().Decode(s.body, nil)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			s.t.Error(err)
		}
		return "", ""
	}
	message := m.Headers.Get(":message-type").String()
	return m.Headers.Get(":" + message + "-type").String(), string(m.Payload)
}

// update returns the next update.
func (s *session) update() (sampled bool, messages []string, first map[string]any) {
	s.t.Helper()
	kind, payload := s.next()
	var u struct {
		SessionMetadata struct{ Sampled bool }
		SessionResults  []map[string]any
	}
	if err := json.Unmarshal([]byte(payload), &u); err != nil || kind != "sessionUpdate" || u.SessionResults == nil {
		s.t.Fatalf("%s: %s, %v", kind, payload, err)
	}
	for _, e := range u.SessionResults {
		messages = append(messages, e["message"].(string)) //nolint:forcetypeassert // a test
	}
	if len(messages) > 0 {
		first = u.SessionResults[0]
	}
	return u.SessionMetadata.Sampled, messages, first
}

func groupARN(name string) string { return "arn:aws:logs:us-east-1:000000000000:log-group:" + name }

// put appends events with the given messages to a stream.
func (s *served) put(group, stream string, messages ...string) {
	s.t.Helper()
	events := make([]logstore.Event, len(messages))
	for i, m := range messages {
		events[i] = logstore.Event{Time: now.UnixMilli() + int64(i), Message: m}
	}
	if err := s.store.Append(home, group, stream, events); err != nil {
		s.t.Fatal(err)
	}
}

func TestLiveTail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		for _, name := range []string{"G", "H"} {
			s.call("CreateLogGroup", `{"logGroupName":"`+name+`"}`)
		}
		tail := s.tail(t, `{"logGroupIdentifiers":["`+groupARN("G")+`","`+groupARN("H")+`"],"logEventFilterPattern":"error"}`)
		if kind, payload := tail.next(); kind != "initial-response" || payload != "{}" ||
			tail.header.Get("Content-Type") != "application/vnd.amazon.eventstream" {
			t.Fatal(kind, payload, tail.header)
		}
		if kind, payload := tail.next(); kind != "sessionStart" || !strings.Contains(payload,
			`"logGroupIdentifiers":["`+groupARN("G")+`","`+groupARN("H")+`"],"logStreamNames":[],"logStreamNamePrefixes":[],"logEventFilterPattern":"error"`) {
			t.Fatal(kind, payload)
		}
		began := time.Now()
		if sampled, messages, _ := tail.update(); sampled || messages != nil || time.Since(began) != time.Second {
			t.Errorf("sampled %v: %s after %s", sampled, messages, time.Since(began))
		}
		s.put("G", "1", "an error", "all is well")
		s.put("H", "2", "error again")
		at := float64(now.UnixMilli())
		sampled, messages, first := tail.update()
		if want := []string{"an error", "error again"}; sampled || !reflect.DeepEqual(messages, want) || !reflect.DeepEqual(first,
			map[string]any{"logGroupIdentifier": "000000000000:G", "logStreamName": "1", "message": "an error", "timestamp": at,
				"ingestionTime": at}) {
			t.Errorf("sampled %v: %s %v", sampled, messages, first)
		}
		many := make([]string, 1000)
		for i := range many {
			many[i] = fmt.Sprintf("error %d", i)
		}
		s.put("G", "1", many...)
		if sampled, messages, _ := tail.update(); !sampled || len(messages) != 500 || messages[1] != "error 2" || messages[499] != "error 998" {
			t.Errorf("sampled %v: %d", sampled, len(messages))
		}
		kind, payload := tail.next()
		for kind == "sessionUpdate" {
			kind, payload = tail.next()
		}
		if kind != "SessionTimeoutException" || payload != `{"message":"The session has timed out after 3 hours."}` ||
			time.Since(began) != 3*time.Hour {
			t.Error(kind, payload, time.Since(began))
		}
		if kind, _ := tail.next(); kind != "" {
			t.Error(kind)
		}
	})
}

func TestLiveTailOfStreams(t *testing.T) {
	t.Parallel()
	for _, selection := range []string{`"logStreamNames":["a1"]`, `"logStreamNamePrefixes":["x","a"]`} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t)
			s.call("CreateLogGroup", `{"logGroupName":"G"}`)
			tail := s.tail(t, `{"logGroupIdentifiers":["`+groupARN("G")+`"],`+selection+`}`)
			tail.next()
			tail.next()
			s.put("G", "a1", "one")
			s.put("G", "b1", "two")
			if _, messages, _ := tail.update(); !reflect.DeepEqual(messages, []string{"one"}) {
				t.Errorf("%s: %s", selection, messages)
			}
			s.store.StopFollowing() // the server ends
			if kind, _ := tail.next(); kind != "" {
				t.Error(kind)
			}
		})
	}
}

func TestLiveTailRefuses(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.call("CreateLogGroup", `{"logGroupName":"G"}`)
	for parameters, want := range map[string]string{
		`["` + groupARN("None") + `"]`: "ResourceNotFoundException: The specified log group does not exist.",
		`["G"]`:                        "InvalidParameterException: Specify each log group by its ARN, without an asterisk at its end: G",
		`["` + groupARN("G") + `"],"logStreamNames":["a"],"logStreamNamePrefixes":["a"]`: "InvalidParameterException: LogStream names and LogStream name prefixes are mutually exclusive parameters.",
		`["` + groupARN("G") + `","` + groupARN("H") + `"],"logStreamNames":["a"]`:       "InvalidParameterException: LogStream names and prefixes can be specified only with a single log group.",
		`["` + groupARN("G") + `"],"logEventFilterPattern":"{"`:                          "InvalidParameterException: Invalid filter pattern",
	} {
		got := s.call("StartLiveTail", `{"logGroupIdentifiers":`+parameters+`}`)
		if text := fmt.Sprintf("%s: %s", got["__type"], got["message"]); text != want {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
}
