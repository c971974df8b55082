package objectevent_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/internal/objectevent"
)

func TestExecutionNameKeepsTheBaseNameReadable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, prefix string }{
		{"uploads/2026/users.csv", "users-csv-"},
		{"users 2026 (final).csv", "users-2026-final-csv-"},
		{"利用者.csv", "csv-"},
		{"利用者", "object-"},
		{"dir/", "dir-"},
		{"", "object-"},
		{strings.Repeat("x", 300), strings.Repeat("x", 47) + "-"},
	} {
		name := objectevent.ExecutionName("in", c.key, "9e107d9d372bb6826bd81d3542a419d6")
		if !strings.HasPrefix(name, c.prefix) || len(name) != len(c.prefix)+32 {
			t.Errorf("ExecutionName(%q) = %q, want %q and 32 digits", c.key, name, c.prefix)
		}
	}
}

func TestExecutionNameIgnoresQuotesOfTheETag(t *testing.T) {
	t.Parallel()
	if a, b := objectevent.ExecutionName("in", "k", `"abc"`), objectevent.ExecutionName("in", "k", "abc"); a != b {
		t.Errorf("quoted %q, unquoted %q", a, b)
	}
}

func TestExecutionNameIsLegalAndTellsFilesApart(t *testing.T) {
	t.Parallel()
	legal := regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)
	rapid.Check(t, func(t *rapid.T) {
		bucket := rapid.StringMatching(`[a-z0-9.-]{3,20}`).Draw(t, "bucket")
		key, etag := rapid.String().Draw(t, "key"), rapid.StringMatching(`[0-9a-f-]{0,40}`).Draw(t, "etag")
		name := objectevent.ExecutionName(bucket, key, etag)
		if !legal.MatchString(name) {
			t.Fatalf("illegal name %q", name)
		}
		if name != objectevent.ExecutionName(bucket, key, etag) {
			t.Fatal("the name changes from call to call")
		}
		if name == objectevent.ExecutionName(bucket, key+"x", etag) || name == objectevent.ExecutionName(bucket, key, etag+"0") || name == objectevent.ExecutionName(bucket+"x", key, etag) ||
			name == objectevent.EarlierExecutionName(key, etag) {
			t.Fatalf("%q names two files", name)
		}
	})
}

func TestEventIsWrittenAsEventBridgeWritesIt(t *testing.T) {
	t.Parallel()
	e := objectevent.Event{
		Version: "0", ID: "2d4eba74-fd51-3966-4bfa-b013c9da8ff1", DetailType: objectevent.DetailType,
		Source: objectevent.Source, Account: "123456789012", Region: "eu-west-1",
		Time: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Resources: []string{"arn:aws:s3:::incoming"},
		Detail: objectevent.Detail{
			Version: "0", Bucket: objectevent.Bucket{Name: "incoming"}, RequestID: "R", Requester: "123456789012",
			SourceIP: "127.0.0.1", Reason: objectevent.PutObject,
			Object: objectevent.Object{Key: "a b.csv", Size: 5, ETag: "e", Sequencer: "00617F08299329D189"},
		},
	}
	got, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":"0","id":"2d4eba74-fd51-3966-4bfa-b013c9da8ff1","detail-type":"Object Created",` +
		`"source":"aws.s3","account":"123456789012","time":"2026-11-21T10:00:00Z","region":"eu-west-1",` +
		`"resources":["arn:aws:s3:::incoming"],"detail":{"version":"0","bucket":{"name":"incoming"},` +
		`"object":{"key":"a b.csv","size":5,"etag":"e","sequencer":"00617F08299329D189"},"request-id":"R",` +
		`"requester":"123456789012","source-ip-address":"127.0.0.1","reason":"PutObject"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	input, _ := json.Marshal(e.ExecutionInput())
	if string(input) != `{"bucket":"incoming","key":"a b.csv","etag":"e"}` {
		t.Errorf("input %s", input)
	}
}

func ExampleExecutionName() {
	fmt.Println(objectevent.ExecutionName("in", "uploads/users.csv", `"9e107d9d372bb6826bd81d3542a419d6"`))
	// Output: users-csv-72edfb265f5099a5811da291b4d492b4
}

// The names that earlier versions gave stay known: their imports and letters have them.
func ExampleEarlierExecutionName() {
	fmt.Println(objectevent.EarlierExecutionName("uploads/users.csv", `"9e107d9d372bb6826bd81d3542a419d6"`))
	// Output: users-csv-e8594c61f26231883c3a11e67702671b
}
