package logs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	api "stepback/local/services/logs"
	"stepback/local/services/logs/logstore"
)

const function = "arn:aws:lambda:us-east-1:000000000000:function:listens"

// subscribed is a platform with log groups, subscriptions and one function.
type subscribed struct {
	*served
	virtual       *clock.Clock
	subscriptions *api.Subscriptions
	close         func()
}

// subscribe opens the log groups in a directory; their subscriptions deliver to the function take.
func subscribe(t *testing.T, dir string, take func(*delivery.Message) error) *subscribed {
	t.Helper()
	kept, err := documents.Open(dir+"/documents", nil)
	if err != nil {
		t.Fatal(err)
	}
	targets := &delivery.Targets{}
	targets.Register("lambda", delivery.TargetFunc(func(_ context.Context, to aws.ARN, m *delivery.Message) error {
		if to.String() != function {
			t.Error(to)
		}
		return take(m)
	}))
	s := &subscribed{virtual: clock.Virtual(now)}
	s.subscriptions = api.OpenSubscriptions(api.SubscriptionOptions{Documents: kept, Targets: targets,
		Clock: s.virtual})
	told := func() time.Time { return now }
	store, err := logstore.Open(dir+"/groups", logstore.Options{Now: told, Written: s.subscriptions.Written})
	if err != nil {
		t.Fatal(err)
	}
	s.served = &served{t, api.New(api.Options{Store: store, Documents: kept, Default: home, Now: told}), store}
	s.close = func() {
		for _, end := range []func() error{s.subscriptions.Stop, store.Close, s.subscriptions.Close, kept.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
		s.virtual.Close()
	}
	return s
}

// opened returns the decoded data of a subscription message.
func opened(t *testing.T, m *delivery.Message) (data map[string]any) {
	t.Helper()
	var event struct{ AWSLogs struct{ Data []byte } }
	if err := json.Unmarshal([]byte(m.Body), &event); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(event.AWSLogs.Data))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(r).Decode(&data); err != nil {
		t.Fatal(err)
	}
	return data
}

const subscribing = named + `,"filterName":"f","filterPattern":"{$.type=ExecutionFailed}","destinationArn":"` + function + `"}`

func TestSubscriptionDelivers(t *testing.T) {
	t.Parallel()
	came := make(chan *delivery.Message)
	failures := 2
	s := subscribe(t, t.TempDir(), func(m *delivery.Message) error {
		if failures--; failures >= 0 {
			return &aws.Error{Code: "ServiceException", Status: 500}
		}
		came <- m
		return nil
	})
	defer s.close()
	s.ends("CreateLogGroup", named+`}`, "")
	s.ends("CreateLogStream", named+`,"logStreamName":"s"}`, "")
	s.ends("PutSubscriptionFilter", subscribing, "")
	put := s.call("PutLogEvents", named+`,"logStreamName":"s","logEvents":[`+
		`{"timestamp":1700000000000,"message":"{\"type\":\"ExecutionStarted\"}"},`+
		`{"timestamp":1700000000001,"message":"{\"type\":\"ExecutionFailed\",\"id\":1}"},`+
		`{"timestamp":1700000000002,"message":"{\"type\":\"ExecutionFailed\",\"id\":2}"}]}`)
	if put["nextSequenceToken"] == nil {
		t.Fatal(put)
	}
	var ids []any
	for _, e := range s.call("FilterLogEvents", named+`,"filterPattern":"ExecutionFailed"}`)["events"].([]any) {
		ids = append(ids, e.(map[string]any)["eventId"])
	}
	want := map[string]any{
		"messageType": "DATA_MESSAGE", "owner": "000000000000", "logGroup": group, "logStream": "s",
		"subscriptionFilters": []any{"f"}, "logEvents": []any{
			map[string]any{"id": ids[0], "timestamp": 1700000000001.0, "message": `{"type":"ExecutionFailed","id":1}`},
			map[string]any{"id": ids[1], "timestamp": 1700000000002.0, "message": `{"type":"ExecutionFailed","id":2}`},
		},
	}
	if got := opened(t, <-came); !reflect.DeepEqual(got, want) {
		t.Errorf("delivered %v, want %v", got, want)
	}
}

// Events that exceed the size of a batch are split into several.
func TestSubscriptionBatches(t *testing.T) {
	t.Parallel()
	came := make(chan *delivery.Message, 9)
	s := subscribe(t, t.TempDir(), func(m *delivery.Message) error { came <- m; return nil })
	defer s.close()
	s.ends("CreateLogGroup", named+`}`, "")
	s.ends("PutSubscriptionFilter", named+`,"filterName":"f","filterPattern":"","destinationArn":"`+function+`"}`, "")
	var events []logstore.Event
	for i := range 3 {
		events = append(events, logstore.Event{Time: now.UnixMilli(), Message: strings.Repeat(fmt.Sprint(i), 100<<10)})
	}
	if err := s.store.Append(home, group, "s", events); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for range 2 {
		sizes = append(sizes, len(opened(t, <-came)["logEvents"].([]any)))
	}
	slices.Sort(sizes)
	if !reflect.DeepEqual(sizes, []int{1, 2}) {
		t.Errorf("batches of %v events", sizes)
	}
}

// Events survive a restart of the process before the function takes them.
func TestSubscriptionSurvives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := subscribe(t, dir, func(*delivery.Message) error { return &aws.Error{Code: "ServiceException", Status: 500} })
	s.ends("CreateLogGroup", named+`}`, "")
	s.ends("PutSubscriptionFilter", subscribing, "")
	s.virtual.Hold()
	if err := s.store.Append(home, group, "s", []logstore.Event{{Time: now.UnixMilli(),
		Message: `{"type":"ExecutionFailed"}`}}); err != nil {
		t.Fatal(err)
	}
	s.close()
	came := make(chan *delivery.Message, 1)
	s = subscribe(t, dir, func(m *delivery.Message) error { came <- m; return nil })
	defer s.close()
	if err := s.subscriptions.Resume(); err != nil {
		t.Fatal(err)
	}
	if got := opened(t, <-came); len(got["logEvents"].([]any)) != 1 {
		t.Error(got)
	}
	filters := s.call("DescribeSubscriptionFilters", named+`}`)
	if want := map[string]any{"subscriptionFilters": []any{map[string]any{"filterName": "f", "logGroupName": group,
		"filterPattern": "{$.type=ExecutionFailed}", "destinationArn": function, "distribution": "ByLogStream",
		"applyOnTransformedLogs": false, "creationTime": 1_700_000_000_000.0}}}; !reflect.DeepEqual(filters, want) {
		t.Error(filters)
	}
}

func TestSubscriptionFilters(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const noGroup = "ResourceNotFoundException: The specified log group does not exist."
	s.ends("PutSubscriptionFilter", subscribing, noGroup)
	s.ends("DescribeSubscriptionFilters", named+`}`, noGroup)
	s.ends("CreateLogGroup", named+`}`, "")
	put := func(name, pattern, arn, more string) string {
		return named + fmt.Sprintf(`,"filterName":%q,"filterPattern":%q,"destinationArn":%q%s}`, name, pattern, arn, more)
	}
	for _, c := range []struct{ parameters, want string }{
		{put("f", "{", function, ""), "InvalidParameterException: Invalid filter pattern"},
		{put("f", "", "arn:aws:kinesis:us-east-1:000000000000:stream/s", ""),
			"InvalidParameterException: destinationArn for vendor kinesis cannot be used without roleArn"},
		{put("f", "", "arn:aws:lambda:us-east-1:111111111111:function:f", ""), "AccessDeniedException: Cross-account " +
			"lambda invocation passing is not allowed. You must use DestinationPolicies to create cross account lambda triggers."},
		{put("f", "", "arn:aws:firehose:us-east-1:000000000000:deliverystream/s", `,"roleArn":"arn:aws:iam::000000000000:role/r"`),
			"InvalidParameterException: Destinations of firehose are not supported here: log events are delivered to functions."},
		{put("f", "", "arn:aws:sqs:us-east-1:000000000000:q", ""),
			"InvalidParameterException: PutSubscriptionFilter operation cannot work with destinationArn for vendor sqs"},
		{put("f", "", function, `,"emitSystemFields":["@aws.region"]`),
			"InvalidParameterException: emitSystemFields is not supported here."},
		{put("a", "", function, ""), ""},
		{put("b", "x", function, ""), ""},
		{put("b", "y", function, ""), ""},
		{put("c", "", function, ""), "LimitExceededException: Resource limit exceeded."},
	} {
		s.ends("PutSubscriptionFilter", c.parameters, c.want)
	}
	page := s.call("DescribeSubscriptionFilters", named+`,"filterNamePrefix":"b"}`)["subscriptionFilters"].([]any)
	if len(page) != 1 || page[0].(map[string]any)["filterPattern"] != "y" {
		t.Error(page)
	}
	s.ends("DeleteSubscriptionFilter", named+`,"filterName":"b"}`, "")
	s.ends("DeleteSubscriptionFilter", named+`,"filterName":"b"}`,
		"ResourceNotFoundException: The specified subscription filter does not exist.")
}

// TestKilledBeforeTheBatchIsStored kills the process after log events are written, and before the batch of their
// subscription is stored. The next process delivers them, those of a stored batch not again, and none from before the
// last change of the filter.
func TestKilledBeforeTheBatchIsStored(t *testing.T) {
	t.Parallel()
	dir, killed := t.TempDir(), t.TempDir()+"/killed"
	came := make(chan *delivery.Message, 9)
	s := subscribe(t, dir, func(m *delivery.Message) error { came <- m; return nil })
	s.ends("CreateLogGroup", named+`}`, "")
	put := func(message string) {
		t.Helper()
		if err := s.store.Put(home, group, "s", []logstore.Event{{Time: now.UnixMilli(), Message: message}}); err != nil {
			t.Fatal(err)
		}
	}
	put("before")
	s.ends("PutSubscriptionFilter", named+`,"filterName":"f","filterPattern":"-skipped","destinationArn":"`+function+`"}`, "")
	put("stored")
	if got := messagesIn(t, <-came); !slices.Equal(got, []string{"stored"}) {
		t.Errorf("the first batch has %q", got)
	}
	s.virtual.Hold() // a batch is stored after a second
	put("skipped")
	put("missed")
	put("missed too")
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s.close()
	for _, want := range [][]string{{"missed", "missed too"}, nil} { // the second time there is nothing left
		came := make(chan *delivery.Message, 9)
		s := subscribe(t, killed, func(m *delivery.Message) error { came <- m; return nil })
		if err := s.subscriptions.Resume(); err != nil {
			t.Fatal(err)
		}
		if err := s.subscriptions.CatchUp(s.store); err != nil {
			t.Fatal(err)
		}
		if want != nil {
			got := messagesIn(t, <-came)
			if slices.Equal(got, []string{"stored"}) { // its delivery was not recorded yet
				got = messagesIn(t, <-came)
			}
			if !slices.Equal(got, want) {
				t.Errorf("after the crash: %q, want %q", got, want)
			}
		}
		s.close()
		if len(came) > 0 {
			t.Errorf("delivered again: %q", messagesIn(t, <-came))
		}
	}
}

// messagesIn returns the messages of the events that a function receives.
func messagesIn(t *testing.T, m *delivery.Message) (texts []string) {
	t.Helper()
	events, _ := opened(t, m)["logEvents"].([]any)
	for _, e := range events {
		event, _ := e.(map[string]any)
		text, _ := event["message"].(string)
		texts = append(texts, text)
	}
	return texts
}
