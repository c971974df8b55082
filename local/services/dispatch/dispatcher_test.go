package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/dispatch"
	"stepback/local/services/documents"
	"stepback/local/services/lanes"
)

// bench is a dispatcher whose target follows a script.
type bench struct {
	t     *testing.T
	clock *clock.Clock
	disk  *vfs.MemFS
	store *documents.Store
	*dispatch.Dispatcher

	mu    sync.Mutex
	fails func(attempt int) error // nil accepts everything
	sent  []time.Duration         // time since the start
	dead  []string
}

var epoch = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

const queue = "arn:aws:sqs:us-east-1:000000000000:q"

func newBench(t *testing.T, fails func(int) error) *bench {
	t.Helper()
	b := &bench{t: t, clock: clock.Virtual(epoch), disk: vfs.NewCrashableMem(), fails: fails}
	b.clock.Hold() // time passes only in pass
	b.open()
	t.Cleanup(func() {
		b.close()
		b.clock.Release()
		b.clock.Close()
	})
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.store, err = documents.Open("/documents", b.disk); err != nil {
		b.t.Fatal(err)
	}
	b.Dispatcher = dispatch.Open(dispatch.Options{Store: b.store, Table: "letters", Clock: b.clock, Send: b.send,
		Letterbox: b.bury, Direct: func(arn string) bool { return strings.HasSuffix(arn, ":direct") }})
	if err := b.Resume(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) close() {
	b.Close()
	if err := b.store.Close(); err != nil {
		b.t.Error(err)
	}
}

func (b *bench) send(_ context.Context, _ *dispatch.Letter) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, b.clock.Now().Sub(epoch))
	if b.fails == nil {
		return nil
	}
	return b.fails(len(b.sent))
}

func (b *bench) bury(_ context.Context, _ string, m *delivery.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = append(b.dead, fmt.Sprintf("%s %s %s %s", m.Body, m.Attributes["ERROR_CODE"].String,
		m.Attributes["EXHAUSTED_RETRY_CONDITION"].String, m.Attributes["RETRY_ATTEMPTS"].String))
	return nil
}

func (b *bench) attempts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.sent)
}

func (b *bench) accept(l dispatch.Letter) {
	b.t.Helper()
	if l.Age == 0 {
		l.Age, l.Attempts = int64(dispatch.DefaultAge/time.Second), dispatch.DefaultAttempts
	}
	l.Message.Body = "body"
	if err := b.Accept(b.t.Context(), []*dispatch.Letter{&l}, nil); err != nil {
		b.t.Fatal(err)
	}
}

// pass lets virtual time pass.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	if err := b.clock.Sleep(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
}

func failing(code string, status int) func(int) error {
	return func(int) error { return &aws.Error{Code: code, Message: "no", Status: status} }
}

func TestATargetThatTakesIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.accept(dispatch.Letter{To: queue})
	b.pass(time.Second)
	if b.attempts() != 1 || b.Pending() != 0 {
		t.Errorf("%d attempts, %d pending", b.attempts(), b.Pending())
	}
}

func TestATargetThatFailsIsTriedAgainWithBackoff(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(n int) error {
		if n < 5 {
			return errors.New("down")
		}
		return nil
	})
	b.accept(dispatch.Letter{To: queue, DeadLetters: queue})
	b.pass(time.Minute)
	if b.attempts() != 5 || b.Pending() != 0 || len(b.dead) != 0 {
		t.Fatalf("%d attempts, %d pending, dead %v", b.attempts(), b.Pending(), b.dead)
	}
	for i, least := range []time.Duration{500, 1000, 2000, 4000} {
		least *= time.Millisecond
		if wait := b.sent[i+1] - b.sent[i]; wait < least || wait > 2*least {
			t.Errorf("wait %d was %v, want %v to %v", i+1, wait, least, 2*least)
		}
	}
}

func TestWhatIsGivenUpGoesToTheDeadLetters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails    func(int) error
		letter   dispatch.Letter
		attempts int
		dead     string
	}{
		"no permission":    {fails: failing("AccessDeniedException", 400), attempts: 1, dead: "body NO_PERMISSIONS  "},
		"no resource":      {fails: failing("ResourceNotFoundException", 400), attempts: 1, dead: "body NO_RESOURCE  "},
		"invalid":          {fails: failing("ValidationException", 400), attempts: 1, dead: "body INVALID_PARAMETER  "},
		"another mistake":  {fails: failing("StateMachineTypeNotSupported", 400), attempts: 1, dead: "body SDK_CLIENT_ERROR  "},
		"throttled":        {fails: failing("ThrottlingException", 400), letter: dispatch.Letter{Age: 3600, Attempts: 2}, attempts: 3, dead: "body THROTTLING MaximumRetryAttempts 2"},
		"a server's error": {fails: failing("Internal", 500), letter: dispatch.Letter{Age: 3600, Attempts: 1}, attempts: 2, dead: "body INTERNAL_ERROR MaximumRetryAttempts 1"},
		"no attempts":      {fails: failing("Internal", 500), letter: dispatch.Letter{Age: 3600}, attempts: 1, dead: "body INTERNAL_ERROR MaximumRetryAttempts 0"},
		"its own original": {fails: failing("NotFound", 404), letter: dispatch.Letter{Age: 60, Original: "original"}, attempts: 1, dead: "original NO_RESOURCE  "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.fails)
			c.letter.To, c.letter.DeadLetters = queue, queue
			b.accept(c.letter)
			b.pass(time.Hour)
			if got := strings.Join(b.dead, "|"); b.attempts() != c.attempts || got != c.dead || b.Pending() != 0 {
				t.Errorf("%d attempts, dead %q, want %d and %q", b.attempts(), got, c.attempts, c.dead)
			}
		})
	}
}

func TestALetterGetsTooOld(t *testing.T) {
	t.Parallel()
	b := newBench(t, failing("Internal", 500))
	b.accept(dispatch.Letter{To: queue, DeadLetters: queue, Age: 60, Attempts: 185})
	b.pass(time.Hour)
	if len(b.dead) != 1 || !strings.HasPrefix(b.dead[0], "body INTERNAL_ERROR MaximumEventAgeInSeconds ") {
		t.Fatalf("dead %v", b.dead)
	}
	if last := b.sent[len(b.sent)-1]; last > time.Minute {
		t.Errorf("tried after %v", last)
	}
}

func TestATargetThatIsNotReadyIsNoFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(n int) error {
		if n == 1 {
			return &dispatch.Later{At: epoch.Add(10 * time.Minute)}
		}
		return nil
	})
	b.accept(dispatch.Letter{To: queue, DeadLetters: queue, Age: 3600})
	b.pass(time.Hour)
	if b.attempts() != 2 || b.sent[1] != 10*time.Minute || len(b.dead) != 0 {
		t.Errorf("sent at %v, dead %v", b.sent, b.dead)
	}
}

// TestLettersOutliveTheProcess crashes between a failed attempt and the next one.
func TestLettersOutliveTheProcess(t *testing.T) {
	t.Parallel()
	for _, to := range []string{queue, queue + ":direct"} {
		b := newBench(t, func(n int) error {
			if n == 1 {
				return errors.New("down")
			}
			return nil
		})
		b.accept(dispatch.Letter{To: to})
		for b.Pending() == 0 {
			b.pass(time.Millisecond)
		}
		b.close()
		b.open()
		b.pass(time.Minute)
		if b.attempts() != 2 || b.Pending() != 0 {
			t.Errorf("%s: %d attempts, %d pending", to, b.attempts(), b.Pending())
		}
		b.close()
		b.open()
		b.pass(time.Minute)
		if b.attempts() != 2 {
			t.Errorf("%s: what was delivered came again", to)
		}
	}
}

// TestADeadTargetDelaysNoOther has 3,000 letters wait for a target that never answers. Another target's letter, and a
// dead letter, arrive at once.
func TestADeadTargetDelaysNoOther(t *testing.T) {
	t.Parallel()
	store, err := documents.Open("/documents", vfs.NewMem())
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Real()
	defer c.Close()
	arrived := make(chan string, 1)
	d := dispatch.Open(dispatch.Options{Store: store, Table: "letters", Clock: c,
		Send: func(ctx context.Context, l *dispatch.Letter) error {
			switch l.To {
			case "dead":
				<-ctx.Done()
				return ctx.Err()
			case "gone":
				return &aws.Error{Code: "NotFound", Status: 404}
			}
			arrived <- l.Message.Body
			return nil
		},
		Letterbox: func(_ context.Context, _ string, m *delivery.Message) error {
			arrived <- "buried " + m.Body
			return nil
		}})
	letter := func(to, body string) *dispatch.Letter {
		return &dispatch.Letter{To: to, Message: delivery.Message{Body: body}, Age: 3600, Attempts: 3,
			DeadLetters: queue}
	}
	var waiting []*dispatch.Letter
	for range 3000 {
		waiting = append(waiting, letter("dead", strings.Repeat("x", 1000)))
	}
	if err := d.Accept(t.Context(), waiting, nil); err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{"alive": "alive", "gone": "buried gone"} {
		if err := d.Accept(t.Context(), []*dispatch.Letter{letter(to, to)}, nil); err != nil {
			t.Fatal(err)
		}
		if got := <-arrived; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	d.Close()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// TestLettersAreBounded refuses letters beyond the limits, whole requests at a time, until others have been delivered.
func TestLettersAreBounded(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem()
	store, err := documents.Open("/documents", disk)
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Virtual(epoch)
	defer c.Close()
	c.Hold()
	defer c.Release()
	fails, tried := true, make(chan struct{}, 100)
	o := dispatch.Options{Store: store, Table: "letters", Clock: c, PerTarget: lanes.Bound{Jobs: 2}, Total: lanes.Bound{Jobs: 3},
		Send: func(context.Context, *dispatch.Letter) error {
			defer func() { tried <- struct{}{} }()
			if fails {
				return errors.New("down")
			}
			return nil
		}}
	d := dispatch.Open(o)
	accept := func(want string, to ...string) {
		t.Helper()
		var letters []*dispatch.Letter
		for _, to := range to {
			letters = append(letters, &dispatch.Letter{To: to, Age: 3600, Attempts: 100})
		}
		err := d.Accept(t.Context(), letters, nil)
		var refused *aws.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &refused) || refused.Code+" "+refused.Message != want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	const perTarget = "ThrottlingException Too many messages wait to be delivered: the deliveries for a have reached the limit of 2, " +
		"or of 536870912 bytes."
	accept(perTarget, "a", "a", "a")
	accept("", "a", "a")
	accept(perTarget, "b", "a")
	accept("", "b")
	accept("ThrottlingException Too many messages wait to be delivered: the deliveries for all targets together have reached the "+
		"limit of 3, or of 2147483648 bytes.", "c")
	for range 3 {
		<-tried
	}
	d.Close()
	if d = dispatch.Open(o); d.Resume() != nil {
		t.Fatal("the letters cannot be read")
	}
	accept("ThrottlingException Too many messages wait to be delivered: the deliveries for all targets together have "+
		"reached the limit of 3, or of 2147483648 bytes.", "c") // they are still counted
	fails = false
	if err := c.Sleep(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-tried
	}
	d.Close()
	d = dispatch.Open(o)
	accept("", "a", "a")
	d.Close()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
