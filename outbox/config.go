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

// Config is what a relay is made of. Only Store and Sink have to be given.
type Config struct {
	Store Store
	Sink  Sink

	// Name tells relays apart for people who look into the table; by default the machine's name and the process.
	// At most 200 bytes.
	Name string
	// Check refuses a message before it is sent, with an error such as [Invalid] gives; nil means [CheckJSON].
	Check func(*Message) error
	// Policy returns the delays for an error's name; nil means 1 s, doubled up to 5 minutes, with FULL jitter,
	// for every error.
	// retrypatterns.PolicyFor goes by the error → pattern map.
	Policy func(errorName string) retry.Policy
	// MaxRetries is how many retries a message gets before it is dead: 0 means 15, and a negative number that of the
	// policy. Policies are often made for tasks that somebody waits for; a message can wait until its
	// receiver is back.
	MaxRetries int
	// MaxExpiries is after how many leases that ended without news a message is dead; 0 means 20.
	MaxExpiries int

	// Concurrency is how many sends are under way at once; 0 means 16.
	Concurrency int
	// Batch is how many messages are claimed at once; 0 means 512. Twice as many are held at most.
	Batch int
	// PerKey is how many messages of one key are claimed at once; 0 means 64.
	PerKey int
	// Bytes bounds the payloads that are held at once; 0 means 64 MB. A message of any size is sent.
	Bytes int
	// Lease is how long a message is a relay's without news; it is extended while the relay lives. 0 means a minute.
	Lease time.Duration
	// SendTimeout is how long one send may take; 0 means 30 seconds.
	SendTimeout time.Duration
	// Poll is how long a relay that is not woken waits before it looks again; 0 means 5 seconds.
	Poll time.Duration
	// Linger is how long a relay waits after it claimed a few messages, so that it claims more at once next time; 0
	// means 2 milliseconds, and negative not at all.
	Linger time.Duration
	// Grace is how long sends that are under way are waited for when the relay stops; 0 means 20 seconds.
	Grace time.Duration
	// Retention is how long sent and discarded messages are kept; 0 means 24 hours, and negative for ever.
	Retention time.Duration
	// TidyEvery is how often old messages are deleted; 0 means a minute.
	TidyEvery time.Duration

	// Clock is what the relay waits by; nil means [SystemClock].
	Clock Clock
	// Random draws the jitter; nil means math/rand/v2's.
	Rand retry.Rand
	// Log takes what goes wrong and each dead letter; nil means no log.
	Log *slog.Logger
	// Observe is told what happens, from many goroutines; it must be quick. nil means nobody is told.
	Observe func(Event)
}

// longestRetryAfter bounds what a receiver can ask for.
const longestRetryAfter = time.Hour

// complete checks the configuration and fills in what is left out.
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
		return fmt.Errorf("a relay's name is at most 200 bytes of UTF-8 without control characters, not %.40q", c.Name)
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

// patient is the default Config.Policy.
func patient(string) retry.Policy { return retry.Seconds(1, 2, 300, 15, retry.JitterFull) }

// processRandom is the source of math/rand/v2, which any goroutine may draw from.
type processRandom struct{}

// Uint64 implements retry.Rand.
func (processRandom) Uint64() uint64 { return rand.Uint64() }
