package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/cmd/stepback/exit"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/sns"
)

func TestInbox(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stepback(t, "inbox", "--follow", "--data", data).complains(t, exit.Failure, "no process serves "+data)
	stepback(t, "inbox", "show", "7", "--data", data).complains(t, exit.Failure, "there is no mail 7 in "+data)
	if got := stepback(t, "inbox", "--data", data); got.code != exit.OK || !strings.HasPrefix(got.out, "no mails: ") {
		t.Errorf("%d %q %q", got.code, got.out, got.err)
	}
	c := clock.Real()
	defer c.Close()
	store, err := documents.Open(filepath.Join(data, "documents"), nil)
	if err != nil {
		t.Fatal(err)
	}
	topics, err := sns.Open(sns.Options{Dir: data, Store: store, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	arn, err := topics.CreateTopic(aws.Scope{Account: "000000000000", Region: "us-east-1"}, "alarms")
	if err != nil {
		t.Fatal(err)
	}
	subscribed, err := loopback.Client(topics.Handler()).Get(loopback.URL +
		"/?Action=Subscribe&Protocol=email&Endpoint=ops@example.com&TopicArn=" + arn)
	if err != nil {
		t.Fatal(err)
	}
	if err := subscribed.Body.Close(); err != nil {
		t.Error(err)
	}
	if _, err := topics.Publish(t.Context(), sns.PublishInput{TopicARN: arn, Subject: "ALARM: retries",
		Message: "too many"}); err != nil {
		t.Fatal(err)
	}
	mails, err := topics.Inbox().Latest("", 0)
	if err != nil || len(mails) != 2 {
		t.Fatal(mails, err)
	}
	if err := topics.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	n := fmt.Sprint(mails[1].Number)
	got := stepback(t, "inbox", "--data", data)
	if lines := strings.Split(strings.TrimSpace(got.out), "\n"); len(lines) != 2 || !strings.HasSuffix(lines[1],
		"  ops@example.com  ALARM: retries  (not confirmed: AWS would not send it)") ||
		!strings.HasPrefix(strings.TrimSpace(lines[1]), n+"  ") {
		t.Errorf("%d %q %q", got.code, got.out, got.err)
	}
	if got := stepback(t, "inbox", "-n", "1", "--json", "--data", data); got.code != exit.OK ||
		!strings.Contains(got.out, `"subject":"ALARM: retries"`) || strings.Count(got.out, "\n") != 1 {
		t.Errorf("%d %q %q", got.code, got.out, got.err)
	}
	if got := stepback(t, "inbox", "show", n, "--data", data); got.code != exit.OK ||
		!strings.Contains(got.out, "Subject: ALARM: retries\nTopic:   "+arn+
			"\nNote:    (not confirmed: AWS would not send it)\n\ntoo many\n") {
		t.Errorf("%d %q %q", got.code, got.out, got.err)
	}
}
