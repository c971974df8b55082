package sns_test

import (
	"fmt"
	"sync"
	"testing"

	client "github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/local/services/delivery"
	"stepback/local/services/sns"
)

// crashing is the queues of a bench. It keeps an image of the disk as a process leaves it that is killed before or
// after the queues have their messages, when everything that the topics have written by then is on the disk.
type crashing struct {
	sns.Queues
	bench  *bench
	before bool

	once  sync.Once
	image *vfs.MemFS
}

func (c *crashing) DeliverAll(letters []delivery.Letter) []error {
	if c.before {
		c.once.Do(c.crash)
	}
	errs := c.Queues.DeliverAll(letters)
	c.once.Do(c.crash)
	return errs
}

func (c *crashing) crash() {
	b, err := c.bench.documents.Begin()
	if err == nil {
		b.Sync()
		err = b.Apply()()
	}
	if err != nil {
		c.bench.t.Error(err)
	}
	c.image = c.bench.disk.CrashClone(vfs.CrashCloneCfg{})
}

// TestAFIFOTopicKilledBetweenItsStores kills the process between the two commits of a publication: that of the queue
// and that of the deduplication ID. The publisher, who has no answer, repeats the request. The FIFO queue has the
// message once, the standard queue at least once, and sequence numbers increase.
func TestAFIFOTopicKilledBetweenItsStores(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before=%v", before), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			topic := b.topic("orders.fifo", map[string]string{"FifoTopic": "true"})
			for _, queue := range []string{"orders.fifo", "copies"} {
				b.subscribe(topic, "sqs", b.queue(queue), map[string]string{"RawMessageDelivery": "true"})
			}
			crash := &crashing{bench: b, before: before}
			b.reopen(func(q sns.Queues) sns.Queues {
				crash.Queues = q
				return crash
			})
			publish := func(body string) string {
				t.Helper()
				group := "g"
				out, err := b.Publish(t.Context(), &client.PublishInput{TopicArn: &topic, Message: &body,
					MessageGroupId: &group, MessageDeduplicationId: &body})
				must(t, out, err)
				return *out.SequenceNumber
			}
			unanswered := publish("first")
			b.close()
			b.disk = crash.image
			b.around = nil
			b.open()
			again := publish("first")
			if duplicate := publish("first"); duplicate != again {
				t.Errorf("a duplicate has the sequence number %s, want %s", duplicate, again)
			}
			if next := publish("second"); again <= unanswered || next <= again {
				t.Errorf("sequence numbers %s, %s, %s", unanswered, again, next)
			}
			if got := b.bodies("orders.fifo"); got != "first second" {
				t.Errorf("the FIFO queue has %s", got)
			}
			want := map[bool]string{true: "first second", false: "first first second"}[before]
			if got := b.bodies("copies"); got != want {
				t.Errorf("the standard queue has %s, want %s", got, want)
			}
		})
	}
}
