package sns_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"stepback/local/services/sns"
)

// sorted returns the values of a map, ordered by key.
func sorted(m map[string]string) (values []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		values = append(values, m[key])
	}
	return values
}

func read(t *testing.T, dir string) (kept []sns.Notification) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, sns.FileName))
	for line := range bytes.Lines(must(t, text, err)) {
		var n sns.Notification
		if json.Unmarshal(line, &n) == nil {
			kept = append(kept, n)
		}
	}
	return kept
}

// Messages to topics without subscriptions are written to the file.
func TestFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	arn := b.topic("Results", nil)
	id, err := b.service.Publish(t.Context(), sns.PublishInput{TopicARN: arn, Subject: "完了", Message: "two\nlines"})
	must(t, id, err)
	text, err := os.ReadFile(filepath.Join(b.dir, sns.FileName))
	want := fmt.Sprintf(`{"Type":"Notification","MessageId":%q,"TopicArn":"arn:aws:sns:eu-west-1:111111111111:Results",`+
		`"Subject":"完了","Message":"two\nlines","Timestamp":"2026-11-22T12:00:00Z"}`+"\n", id)
	if got := string(must(t, text, err)); got != want {
		t.Errorf("kept %s\nwant %s", got, want)
	}
	b.subscribe(arn, "sqs", b.queue("q"), nil)
	b.publish(arn, "elsewhere", nil)
	if kept := read(t, b.dir); len(kept) != 1 {
		t.Errorf("kept %v", kept)
	}
}

func TestATornLineIsEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.close()
	must(t, 0, os.WriteFile(filepath.Join(b.dir, sns.FileName), []byte(`{"Type":"Notif`), 0o600))
	b.open()
	arn := b.topic("Results", nil)
	for range 2 {
		b.publish(arn, "m", nil)
	}
	if kept := read(t, b.dir); len(kept) != 2 {
		t.Errorf("kept %v", kept)
	}
}

func TestConcurrentMessagesKeepTheirLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	arn := b.topic("Results", nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := b.service.Publish(t.Context(), sns.PublishInput{TopicARN: arn,
					Message: strings.Repeat("m", 5000)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if kept := read(t, b.dir); len(kept) != 160 {
		t.Errorf("%d kept", len(kept))
	}
}
