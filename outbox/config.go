package outbox

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/google/uuid"

	"stepback/retry"
)

// Config configures a relay. Only Store and Sink are required.
type Config struct {
	Store Store
	Sink  Sink

	// Name identifies the relay to people who look into the table; by default it is made of the host's name and the
	// process. At most 200 bytes.
	Name string
	// TakeOver declares that no other relay with this Name runs. Messages that an earlier one of the same Name, which
	// was killed, still holds are then claimed at once, not when its leases expire. It requires a Name.
	TakeOver bool
	// Check rejects a message before it is sent, with an error such as [Invalid] returns; nil means [CheckJSON].
	Check func(*Message) error
	// Policy returns the delays for an error's name; nil means 1 s, doubled up to 5 minutes, with FULL jitter, for
	// every error. retrypatterns.PolicyFor returns the delays of the error's pattern.
	Policy func(errorName string) retry.Policy
	// MaxRetries is the number of retries after which a message becomes a dead letter. 0 means 15, and a negative
	// number means the limit of the policy. Policies often have a low limit because a task's caller waits; a
	// message can wait until its receiver is available again.
	MaxRetries int
	// MaxExpiries is the number of expired leases after which a message becomes a dead letter; 0 means 20.
	MaxExpiries int

	// Concurrency is the maximum number of concurrent sends; 0 means 16.
	Concurrency int
	// Batch is the number of messages claimed at once; 0 means 512. The relay holds at most twice as many.
	Batch int
	// PerKey is the number of messages with the same key claimed at once; 0 means 64.
	PerKey int
	// Bytes limits the total size of payloads held at once; 0 means 64 MB. A single message may be larger.
	Bytes int
	// Lease is the time that a claim lasts unless the relay extends it. A running relay extends its leases. 0 means a
	// minute.
	Lease time.Duration
	// SendTimeout is the maximum duration of one send; 0 means 30 seconds.
	SendTimeout time.Duration
	// Poll is the time that a relay waits before it looks for messages again, unless it is woken earlier; 0 means 5
	// seconds.
	Poll time.Duration
	// Linger is the time that a relay waits after it claimed only a few messages, so that the next claim gets more. 0
	// means 2 milliseconds; a negative value means no wait.
	Linger time.Duration
	// Grace is the time that a stopping relay waits for running sends; 0 means 20 seconds.
	Grace time.Duration
	// Retention is the time that sent and discarded messages are kept; 0 means 24 hours, negative means for ever.
	Retention time.Duration
	// TidyEvery is the interval at which old messages are deleted; 0 means a minute.
	TidyEvery time.Duration

	// Clock measures the relay's waits; nil means [SystemClock].
	Clock Clock
	// Random is the source of jitter; nil means math/rand/v2.
	Rand retry.Rand
	// Log receives errors and each dead letter; nil means no log.
	Log *slog.Logger
	// Observe is called for each event, from many goroutines; it must be quick. nil means no observer.
	Observe func(Event)
}

// longestRetryAfter limits the delay that a receiver can request.
const longestRetryAfter = time.Hour

// complete checks the configuration and fills in defaults.
func (c *Config) complete() error {
	if c.Store == nil || c.Sink == nil {
		return errors.New("a relay needs a Store and a Sink")
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"MaxExpiries", int64(c.MaxExpiries)}, {"Concurrency", int64(c.Concurrency)}, {"Batch", int64(c.Batch)},
		{"PerKey", int64(c.PerKey)},
		{"Bytes", int64(c.Bytes)}, {"Lease", int64(c.Lease)}, {"SendTimeout", int64(c.SendTimeout)},
		{"Poll", int64(c.Poll)},
		{"Grace", int64(c.Grace)}, {"TidyEvery", int64(c.TidyEvery)},
	} {
		if n.value < 0 {
			return fmt.Errorf("a relay's %s is %d; it must be positive, or 0 for the default", n.name, n.value)
		}
	}
	if len(c.Name) > 200 || !isHeader(c.Name) {
		return fmt.Errorf("a relay's name must be at most 200 bytes of UTF-8 without control characters, not %.40q", c.Name)
	}
	if c.TakeOver && c.Name == "" {
		return errors.New("a relay that takes over needs a Name, the one of the relay whose messages it takes")
	}
	if c.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "relay"
		}
		c.Name = fmt.Sprintf("%.100s-%d-%s", host, os.Getpid(), uuid.NewString()[:8])
	}
	if c.Check == nil {
		c.Check = CheckJSON
	}
	if c.Policy == nil {
		c.Policy = patient
	}
	c.MaxRetries = cmp.Or(c.MaxRetries, 15)
	c.MaxExpiries = cmp.Or(c.MaxExpiries, 20)
	c.Concurrency = cmp.Or(c.Concurrency, 16)
	c.Batch = cmp.Or(c.Batch, 512)
	c.PerKey = cmp.Or(c.PerKey, 64)
	c.Bytes = cmp.Or(c.Bytes, 64<<20)
	c.Lease = cmp.Or(c.Lease, time.Minute)
	c.SendTimeout = cmp.Or(c.SendTimeout, 30*time.Second)
	c.Poll = cmp.Or(c.Poll, 5*time.Second)
	c.Linger = cmp.Or(c.Linger, 2*time.Millisecond)
	c.Grace = cmp.Or(c.Grace, 20*time.Second)
	c.Retention = cmp.Or(c.Retention, 24*time.Hour)
	c.TidyEvery = cmp.Or(c.TidyEvery, time.Minute)
	if c.Clock == nil {
		c.Clock = SystemClock{}
	}
	if c.Rand == nil {
		c.Rand = processRandom{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Observe == nil {
		c.Observe = func(Event) {}
	}
	return nil
}

// patient is the default Config.Policy. It returns the same delays for every error.
func patient(string) retry.Policy { return retry.Seconds(1, 2, 300, 15, retry.JitterFull) }

// processRandom is the source of math/rand/v2, which is safe for concurrent use.
type processRandom struct{}

// Uint64 implements retry.Rand.
func (processRandom) Uint64() uint64 { return rand.Uint64() }
