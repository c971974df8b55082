package sqs_test

import (
	"fmt"
	"sync"
	"testing"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestNothingAcknowledgedIsLost takes the disk away from under eight clients and keeps only what was synced. Every
// message whose sending was acknowledged must be there, and none whose deletion was.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.create("q", map[string]string{"VisibilityTimeout": "0"})
	var mu sync.Mutex
	sent := 0
	there, gone, touched := map[string]bool{}, map[string]bool{}, map[string]bool{}
	stop := make(chan struct{})
	enough := make(chan struct{})
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				body := fmt.Sprint(n, "-", i)
				if _, err := b.SendMessage(t.Context(), &client.SendMessageInput{QueueUrl: &url,
					MessageBody: &body}); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if !touched[body] { // another client may receive it before its sender has the response
					there[body] = true
				}
				if sent++; sent == 150 {
					close(enough)
				}
				mu.Unlock()
				if i%3 > 0 {
					continue
				}
				for _, m := range b.receive(url, 1) {
					mu.Lock()
					touched[*m.Body] = true
					delete(there, *m.Body) // until the deletion is acknowledged, either is possible
					mu.Unlock()
					b.remove(url, m)
					mu.Lock()
					gone[*m.Body] = true
					mu.Unlock()
				}
			}
		})
	}
	<-enough
	mu.Lock()
	want, not := []string{}, []string{}
	for body := range there {
		want = append(want, body)
	}
	for body := range gone {
		not = append(not, body)
	}
	after := b.disk.CrashClone(vfs.CrashCloneCfg{}) // before another deletion is recorded
	mu.Unlock()
	close(stop)
	clients.Wait()
	b.close()
	b.disk = after
	b.open()
	url = b.create("q", map[string]string{"VisibilityTimeout": "0"})
	found := map[string]bool{}
	for {
		messages := b.receive(url, 10)
		if len(messages) == 0 {
			break
		}
		for _, m := range messages {
			found[*m.Body] = true
			b.remove(url, m)
		}
	}
	for _, body := range want {
		if !found[body] {
			t.Errorf("%s is lost", body)
		}
	}
	for _, body := range not {
		if found[body] {
			t.Errorf("%s is there again", body)
		}
	}
}
