package sns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/aws"
	"stepback/services/sns"
)

var home = aws.Scope{Account: "123456789012", Region: "eu-west-1"}

func open(t *testing.T, dir string, opts sns.Options) (*sns.Topics, string) {
	t.Helper()
	topics, err := sns.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { topics.Close() })
	arn, err := topics.CreateTopic(home, "Results")
	if err != nil {
		t.Fatal(err)
	}
	return topics, arn
}

func read(t *testing.T, dir string) (kept []sns.Notification) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, sns.FileName))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var n sns.Notification
		if json.Unmarshal(line, &n) == nil {
			kept = append(kept, n)
		}
	}
	return kept
}

func TestPublishKeepsAndDelivers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var got []sns.Notification
	topics, arn := open(t, dir, sns.Options{
		Received: func(n sns.Notification) { got = append(got, n) },
		Now:      func() time.Time { return time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC) },
	})
	if arn != "arn:aws:sns:eu-west-1:123456789012:Results" {
		t.Errorf("ARN %s", arn)
	}
	id, err := topics.Publish(t.Context(), sns.PublishInput{TopicARN: arn, Subject: "完了", Message: "two\nlines"})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, sns.FileName))
	want := fmt.Sprintf(`{"Type":"Notification","MessageId":%q,"TopicArn":"arn:aws:sns:eu-west-1:123456789012:Results","Subject":"完了","Message":"two\nlines","Timestamp":"2026-11-21T01:02:03Z"}`+"\n", id)
	if string(text) != want {
		t.Errorf("kept %s\nwant %s", text, want)
	}
	if len(got) != 1 || got[0].MessageID != id || got[0].Message != "two\nlines" {
		t.Errorf("delivered %+v", got)
	}
}

func TestPublishRefusesWhatSNSRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	topics, arn := open(t, dir, sns.Options{})
	for _, c := range []struct {
		in            sns.PublishInput
		code, message string
		status        int
	}{
		{sns.PublishInput{TopicARN: arn + "x", Message: "m"}, "NotFound", "Topic does not exist", 404},
		{sns.PublishInput{TopicARN: "Results", Message: "m"}, "InvalidParameter", "Invalid parameter: TopicArn", 400},
		{sns.PublishInput{TopicARN: arn}, "InvalidParameter", "Invalid parameter: Empty message", 400},
		{sns.PublishInput{TopicARN: arn, Message: strings.Repeat("x", 256<<10+1)}, "InvalidParameter",
			"Invalid parameter: Message too long", 400},
		{sns.PublishInput{TopicARN: arn, Message: "m", Subject: strings.Repeat("x", 101)}, "InvalidParameter",
			"Invalid parameter: Subject", 400},
		{sns.PublishInput{TopicARN: arn, Message: "m", Subject: "a\nb"}, "InvalidParameter",
			"Invalid parameter: Subject", 400},
		{sns.PublishInput{TopicARN: arn, Message: "\xff"}, "InvalidParameter", "Invalid parameter: Message", 400},
	} {
		_, err := topics.Publish(t.Context(), c.in)
		var api *aws.Error
		if !errors.As(err, &api) || api.Code != c.code || api.Status != c.status || !strings.HasPrefix(api.Message,
			c.message) {
			t.Errorf("%.80v: %v", c.in, err)
		}
	}
	if kept := read(t, dir); len(kept) != 0 {
		t.Errorf("kept %v", kept)
	}
	largest := sns.PublishInput{TopicARN: arn, Subject: strings.Repeat("長", 100), Message: strings.Repeat("x", 256<<10)}
	if _, err := topics.Publish(t.Context(), largest); err != nil {
		t.Errorf("the largest message: %v", err)
	}
	if _, err := topics.CreateTopic(home, "no/slash"); err == nil {
		t.Error("a topic with a slash was made")
	}
}

func TestATornLineIsEndedAtOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, sns.FileName), []byte(`{"Type":"Notif`), 0o644); err != nil {
		t.Fatal(err)
	}
	topics, arn := open(t, dir, sns.Options{})
	for range 2 {
		if _, err := topics.Publish(t.Context(), sns.PublishInput{TopicARN: arn, Message: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	if kept := read(t, dir); len(kept) != 2 {
		t.Errorf("kept %v", kept)
	}
}

func TestConcurrentMessagesKeepTheirLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	topics, arn := open(t, dir, sns.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := topics.Publish(t.Context(), sns.PublishInput{TopicARN: arn, Message: strings.Repeat("m",
					5000)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if kept := read(t, dir); len(kept) != 160 {
		t.Errorf("%d kept", len(kept))
	}
}

func ExampleTopics() {
	dir, err := os.MkdirTemp("", "sns")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	topics, err := sns.Open(dir, sns.Options{Received: func(n sns.Notification) {
		fmt.Println(n.Subject, "-",
			n.Message)
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer topics.Close()
	arn, _ := topics.CreateTopic(home, "Results")
	_, err = topics.Publish(context.Background(), sns.PublishInput{TopicARN: arn, Subject: "done",
		Message: "10,000 rows"})
	fmt.Println(err)
	// Output:
	// done - 10,000 rows
	// <nil>
}
