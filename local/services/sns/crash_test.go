package sns_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestNothingAcknowledgedIsLost takes the disk away from under eight publishers and keeps only what was synced. Every
// message whose publication was acknowledged must reach both queues, the function and the inbox.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic := b.topic("news", nil)
	for _, queue := range []string{"a", "b"} {
		b.subscribe(topic, "sqs", b.queue(queue), map[string]string{"RawMessageDelivery": "true"})
	}
	b.subscribe(topic, "lambda", "arn:aws:lambda:eu-west-1:111111111111:function:f", nil)
	b.subscribe(topic, "email", "ops@example.com", nil)
	busy := make([]error, 1000)
	for i := range busy {
		busy[i] = fmt.Errorf("busy %d", i)
	}
	b.functions.fail = busy // keeps undelivered messages in the store
	b.clock.Hold()          // prevents retries before the crash
	var mu sync.Mutex
	var answered []string
	enough := make(chan struct{})
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				body := fmt.Sprint("m", n, "-", i, "!")
				if _, err := b.Publish(t.Context(), &client.PublishInput{TopicArn: &topic,
					Message: &body}); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if answered = append(answered, body); len(answered) == 100 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	mu.Lock()
	want := append([]string(nil), answered...)
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	mu.Unlock()
	close(stop)
	clients.Wait()
	b.close()
	b.disk = after
	b.functions.mu.Lock()
	b.functions.fail = nil
	b.functions.events = nil
	b.functions.mu.Unlock()
	b.open()
	b.clock.Release()
	b.pass(time.Minute)
	mails, err := b.service.Inbox().Latest("", 10_000)
	must(t, mails, err)
	inbox := ""
	for _, m := range mails {
		inbox += m.Body
	}
	b.functions.mu.Lock()
	events := strings.Join(b.functions.events, "\n")
	b.functions.mu.Unlock()
	for where, got := range map[string]string{"queue a": b.bodies("a"), "queue b": b.bodies("b"), "function": events,
		"inbox": inbox} {
		for _, body := range want {
			if !strings.Contains(got, body) {
				t.Errorf("%s has not got %s", where, body)
			}
		}
	}
}
