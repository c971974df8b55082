package sqs_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/sqs"
)

// TestQuery sends requests as clients did before 2023: forms in, XML out.
func TestQuery(t *testing.T) {
	t.Parallel()
	virtual := clock.Virtual(time.Unix(1_800_000_000, 0))
	defer virtual.Close()
	s, err := sqs.Open(sqs.Options{Dir: "/sqs", Clock: virtual, Disk: documents.Disk{FS: vfs.NewMem()}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	api := s.API()
	ask := func(form string) (int, string) {
		values, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(values.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const queue = "&QueueUrl=http://example.com/000000000000/q"
	for _, c := range []struct {
		form   string
		status int
		want   string
	}{
		{"Action=CreateQueue&QueueName=q&Attribute.1.Name=VisibilityTimeout&Attribute.1.Value=7&Tag.1.Key=k&Tag.1.Value=v", 200,
			"<CreateQueueResult><QueueUrl>http://example.com/000000000000/q</QueueUrl></CreateQueueResult>"},
		{"Action=GetQueueAttributes&AttributeName.1=VisibilityTimeout" + queue, 200,
			"<Attribute><Name>VisibilityTimeout</Name><Value>7</Value></Attribute>"},
		{"Action=ListQueueTags" + queue, 200, "<Tag><Key>k</Key><Value>v</Value></Tag>"},
		{"Action=SendMessageBatch&SendMessageBatchRequestEntry.1.Id=a&SendMessageBatchRequestEntry.1.MessageBody=hello" + queue, 200,
			"<SendMessageBatchResultEntry><Id>a</Id>"},
		{"Action=ReceiveMessage" + queue, 200, "<Body>hello</Body>"},
		{"Action=GetQueueUrl&QueueName=none", 400, "<Code>AWS.SimpleQueueService.NonExistentQueue</Code>"},
		{"Action=GetQueueUrl&QueueName=none", 400, "</Message><Detail/></Error>"},
		{"Action=MakeCoffee", 400, "<Code>InvalidAction</Code>"},
	} {
		status, body := ask(c.form)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.form, status, body, c.status, c.want)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} { // to the URL of the queue, without QueueUrl
		const action = "Action=GetQueueAttributes&AttributeName.1=VisibilityTimeout"
		target, form := "/000000000000/q", action
		if method == http.MethodGet {
			target, form = target+"?"+action, ""
		}
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form))
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if w.Code != 200 || !strings.Contains(w.Body.String(), "<Name>VisibilityTimeout</Name><Value>7</Value>") {
			t.Errorf("%s %s: %d %s", method, target, w.Code, w.Body)
		}
	}
}
