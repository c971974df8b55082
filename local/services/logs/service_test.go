package logs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"stepback/aws"
	"stepback/local/services/documents"
	api "stepback/local/services/logs"
	"stepback/local/services/logs/logstore"
)

const group = "/aws/vendedlogs/states/m-Logs"

var now = time.UnixMilli(1_700_000_000_000)

var home = aws.Scope{Account: "000000000000", Region: "us-east-1"}

// served is an API over a store.
type served struct {
	t       *testing.T
	handler http.Handler
	store   *logstore.Store
}

func serve(t *testing.T) *served {
	t.Helper()
	clock := func() time.Time { return now }
	store, err := logstore.Open(t.TempDir(), logstore.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	kept, err := documents.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	return &served{t, api.New(api.Options{Store: store, Documents: kept, Default: home, Now: clock}), store}
}

// call performs an operation; parameters is JSON text.
func (s *served) call(operation, parameters string) map[string]any {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "/", strings.NewReader(parameters))
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", "Logs_20140328."+operation)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	var answer map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		s.t.Fatalf("%s: %s", operation, w.Body)
	}
	return answer
}

// ends checks that an operation returns nothing, or fails with the error want.
func (s *served) ends(operation, parameters, want string) {
	s.t.Helper()
	got := ""
	if a := s.call(operation, parameters); len(a) > 0 {
		got = fmt.Sprint(a["__type"], ": ", a["message"])
	}
	if got != want {
		s.t.Errorf("%s %s: %q, want %q", operation, parameters, got, want)
	}
}

const named = `{"logGroupName":"` + group + `"`

func TestLogGroups(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const gone = "ResourceNotFoundException: The specified log group does not exist."
	s.ends("CreateLogGroup", named+`,"tags":{"k":"v"}}`, "")
	s.ends("CreateLogGroup", named+`}`, "ResourceAlreadyExistsException: The specified log group already exists")
	s.ends("CreateLogGroup", `{"logGroupName":"a b"}`,
		"InvalidParameterException: 1 validation error detected: Value 'a b' at 'logGroupName' "+
			`failed to satisfy constraint: Member must satisfy regular expression pattern: [\.\-_/#A-Za-z0-9]+`)
	s.ends("PutRetentionPolicy", named+`,"retentionInDays":14}`, "")
	s.ends("PutRetentionPolicy", `{"logGroupName":"none","retentionInDays":14}`, gone)
	if a := s.call("PutRetentionPolicy", named+`,"retentionInDays":15}`); a["__type"] != "InvalidParameterException" {
		t.Error(a)
	}
	arn := "arn:aws:logs:us-east-1:000000000000:log-group:" + group
	want := map[string]any{
		"logGroupName": group, "creationTime": 1_700_000_000_000.0, "retentionInDays": 14.0, "metricFilterCount": 0.0,
		"arn":         arn + ":*",
		"logGroupArn": arn, "storedBytes": 0.0, "logGroupClass": "STANDARD", "deletionProtectionEnabled": false,
	}
	if a := s.call("DescribeLogGroups", `{"logGroupNamePrefix":"/aws"}`); !reflect.DeepEqual(a["logGroups"],
		[]any{want}) {
		t.Errorf("%v", a)
	}
	for _, other := range []string{`{"logGroupNamePrefix":"/x"}`, `{"logGroupIdentifiers":["x"]}`,
		`{"logGroupNamePattern":"x"}`} {
		if a := s.call("DescribeLogGroups", other); len(a["logGroups"].([]any)) > 0 {
			t.Errorf("%s: %v", other, a)
		}
	}
	s.ends("TagResource", `{"resourceArn":"`+arn+`","tags":{"a":"b"}}`, "")
	s.ends("UntagResource", `{"resourceArn":"`+arn+`","tagKeys":["k"]}`, "")
	if a := s.call("ListTagsForResource", `{"resourceArn":"`+arn+`"}`); !reflect.DeepEqual(a["tags"],
		map[string]any{"a": "b"}) {
		t.Errorf("%v", a)
	}
	s.ends("DeleteLogGroup", named+`}`, "")
	s.ends("DeleteLogGroup", named+`}`, gone)
	s.ends("DescribeLogStreams", named+`}`, gone)
}

func TestPagesOfLogGroups(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for i := range 5 {
		s.ends("CreateLogGroup", fmt.Sprintf(`{"logGroupName":"g%d"}`, i), "")
	}
	var seen []string
	token := ""
	for {
		a := s.call("DescribeLogGroups", `{"limit":2`+token+`}`)
		for _, g := range a["logGroups"].([]any) {
			seen = append(seen, g.(map[string]any)["logGroupName"].(string))
		}
		next, more := a["nextToken"].(string)
		if !more {
			break
		}
		token = `,"nextToken":"` + next + `"`
	}
	if strings.Join(seen, " ") != "g0 g1 g2 g3 g4" {
		t.Error(seen)
	}
}

// filled returns an API with one group that has two streams of five events each.
func filled(t *testing.T) *served {
	t.Helper()
	s := serve(t)
	s.ends("CreateLogGroup", named+`}`, "")
	for _, stream := range []string{"a", "b"} {
		s.ends("CreateLogStream", named+`,"logStreamName":"`+stream+`"}`, "")
		var events []string
		for i := range 5 {
			events = append(events, fmt.Sprintf(`{"timestamp":%d,"message":"%s%d"}`, now.UnixMilli()+int64(i), stream,
				i))
		}
		if a := s.call("PutLogEvents", named+`,"logStreamName":"`+stream+`","logEvents":[`+strings.Join(events, ",")+
			`]}`); a["nextSequenceToken"] == nil {
			t.Fatal(a)
		}
	}
	return s
}

// messages returns the messages of the events in a response.
func messages(answer map[string]any) string {
	var found []string
	events, _ := answer["events"].([]any)
	for _, e := range events {
		found = append(found, e.(map[string]any)["message"].(string))
	}
	return strings.Join(found, " ")
}

func TestGetLogEvents(t *testing.T) {
	t.Parallel()
	s := filled(t)
	get := func(more string) map[string]any { return s.call("GetLogEvents", named+`,"logStreamName":"a"`+more+`}`) }
	follow := func(a map[string]any, token string) map[string]any {
		return get(`,"limit":2,"nextToken":"` + a[token].(string) + `"`)
	}
	if a := get(""); messages(a) != "a0 a1 a2 a3 a4" {
		t.Error(a)
	}
	last := get(`,"limit":2`)
	if messages(last) != "a3 a4" || messages(follow(last, "nextBackwardToken")) != "a1 a2" {
		t.Error(last)
	}
	end := follow(last, "nextForwardToken")
	if messages(end) != "" || end["nextForwardToken"] != last["nextForwardToken"] {
		t.Error(end)
	}
	first := get(`,"limit":2,"startFromHead":true`)
	if messages(first) != "a0 a1" || messages(follow(first, "nextForwardToken")) != "a2 a3" {
		t.Error(first)
	}
	if a := get(fmt.Sprintf(`,"startTime":%d,"endTime":%d`, now.UnixMilli()+1, now.UnixMilli()+
		3)); messages(a) != "a1 a2" {
		t.Error(a)
	}
	s.ends("GetLogEvents", named+`,"logStreamName":"c"}`,
		"ResourceNotFoundException: The specified log stream does not exist.")
	s.ends("GetLogEvents", named+`,"logStreamName":"a","nextToken":"x"}`,
		"InvalidParameterException: The specified nextToken is invalid.")
}

func TestFilterLogEvents(t *testing.T) {
	t.Parallel()
	s := filled(t)
	for more, want := range map[string]string{
		"":                            "a0 b0 a1 b1 a2 b2 a3 b3 a4 b4",
		`,"logStreamNames":["b"]`:     "b0 b1 b2 b3 b4",
		`,"logStreamNamePrefix":"a"`:  "a0 a1 a2 a3 a4",
		`,"filterPattern":"?a3 ?b1"`:  "b1 a3",
		`,"filterPattern":"nothing"`:  "",
		`,"startTime":1700000000004`:  "a4 b4",
		`,"logStreamNames":["never"]`: "",
	} {
		if a := s.call("FilterLogEvents", named+more+`}`); messages(a) != want {
			t.Errorf("%s: %v", more, a)
		}
	}
	var seen []string
	token := ""
	for {
		a := s.call("FilterLogEvents", named+`,"limit":3`+token+`}`)
		seen = append(seen, messages(a))
		next, more := a["nextToken"].(string)
		if !more {
			break
		}
		token = `,"nextToken":"` + next + `"`
	}
	if got := strings.Join(seen, "|"); got != "a0 b0 a1|b1 a2 b2|a3 b3 a4|b4" {
		t.Error(got)
	}
}

func TestLogStreams(t *testing.T) {
	t.Parallel()
	s := filled(t)
	s.ends("CreateLogStream", named+`,"logStreamName":"a"}`,
		"ResourceAlreadyExistsException: The specified log stream already exists")
	a := s.call("PutLogEvents", fmt.Sprintf(named+
		`,"logStreamName":"a","logEvents":[{"timestamp":1,"message":"old"},{"timestamp":%d,"message":"now"},{"timestamp":%d,"message":"new"}]}`,
		now.UnixMilli()+5, now.Add(3*time.Hour).UnixMilli()))
	if !reflect.DeepEqual(a["rejectedLogEventsInfo"], map[string]any{"tooOldLogEventEndIndex": 1.0,
		"tooNewLogEventStartIndex": 2.0}) {
		t.Error(a)
	}
	put := named + `,"logStreamName":"a","logEvents":[{"timestamp":%d,"message":"%s"},{"timestamp":%d,"message":"%s"}]}`
	s.ends("PutLogEvents", fmt.Sprintf(put, now.Add(-25*time.Hour).UnixMilli(), "a", now.UnixMilli(), "b"),
		"InvalidParameterException: The batch of log events in a single PutLogEvents request cannot span more than 24 hours.")
	half := strings.Repeat("x", 1<<19-26)
	s.ends("PutLogEvents", fmt.Sprintf(put, now.UnixMilli(), half, now.UnixMilli(), half+"x"),
		"InvalidParameterException: Upload too large: 1048577 bytes exceeds limit of 1048576")
	if got := s.call("PutLogEvents", fmt.Sprintf(put, now.UnixMilli(), half, now.UnixMilli(), half)); got["nextSequenceToken"] == nil {
		t.Error(got)
	}
	s.ends("CreateLogGroup", `{"logGroupName":"aws/mine"}`,
		"InvalidParameterException: Log groups starting with AWS/ are reserved for AWS.")
	a = s.call("DescribeLogStreams", named+`,"orderBy":"LastEventTime","descending":true,"limit":1}`)
	first := a["logStreams"].([]any)[0].(map[string]any)
	if first["logStreamName"] != "a" || first["lastEventTimestamp"] != float64(now.UnixMilli()+5) ||
		first["firstEventTimestamp"] != float64(now.UnixMilli()) {
		t.Error(a)
	}
	a = s.call("DescribeLogStreams", named+`,"orderBy":"LastEventTime","descending":true,"limit":1,"nextToken":"`+
		a["nextToken"].(string)+`"}`)
	if a["logStreams"].([]any)[0].(map[string]any)["logStreamName"] != "b" || a["nextToken"] != nil {
		t.Error(a)
	}
	s.ends("DeleteLogStream", named+`,"logStreamName":"a"}`, "")
	s.ends("DeleteLogStream", named+`,"logStreamName":"a"}`,
		"ResourceNotFoundException: The specified log stream does not exist.")
	s.ends("PutLogEvents", named+`,"logStreamName":"c","logEvents":[{"timestamp":1,"message":"m"}]}`,
		"ResourceNotFoundException: The specified log stream does not exist.")
}
