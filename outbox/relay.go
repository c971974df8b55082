package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Relay takes messages from a store and passes them to a sink. Many relays may work on one store.
type Relay struct {
	cfg      Config
	drawing  sync.Mutex // guards cfg.Random
	instance string     // distinguishes its claims from those of others with its name
	claims   atomic.Uint64
	health   healthRecord
}

// New returns a relay; Run or Drain starts it.
func New(cfg Config) (*Relay, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return &Relay{cfg: cfg, instance: uuid.NewString()[:8]}, nil
}

// ErrSinkHangs is returned by a relay that stops while its sink does not return from sends, although their context
// has ended.
var ErrSinkHangs = errors.New("the sink does not return although its sends' context has ended")

// Run relays messages until the context ends, however often the database or the sink fails meanwhile. Then it
// starts no more sends, waits for running ones up to the grace, cancels the rest, and records all outcomes. It
// returns nil, [ErrSinkHangs], or the error of a store that could not record the last outcomes. In the last case,
// those messages are sent again, under the same IDs, when their leases expire.
func (r *Relay) Run(ctx context.Context) error {
	_, err := r.run(ctx, false)
	return err
}

// Drained counts the outcomes of a Drain.
type Drained struct {
	Sent, Failed, Dead int64
}

// Drain relays messages until nothing is due any more or the context ends, for programs that run on a schedule.
// Unlike Run it returns the first error of claiming from the store.
func (r *Relay) Drain(ctx context.Context) (Drained, error) { return r.run(ctx, true) }

func (r *Relay) run(ctx context.Context, drain bool) (Drained, error) {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	soft, stop := context.WithCancel(ctx)
	defer stop()
	s := &session{
		Relay: r, drain: drain, soft: soft, hard: hard,
		work: make(chan []*Delivery), outcomes: make(chan Settlement, 2*r.cfg.Batch),
		wake: make(chan struct{}, 1), freed: make(chan struct{}, 1),
		idle: make(chan struct{}), over: make(chan struct{}),
		held: map[int64]holding{},
	}
	r.health.begin(r.cfg.Clock.Now())
	if err := s.takeOver(ctx); err != nil && drain {
		return Drained{}, err
	}
	var background, settling sync.WaitGroup
	for range r.cfg.Concurrency {
		s.employ() //nolint:contextcheck // sends have the session's contexts: they outlive ctx by the grace
	}
	background.Go(s.listen)
	background.Go(s.tidy)
	background.Go(s.watch)
	settling.Go(s.settle)

	err := s.fetch() //nolint:contextcheck // a claim that is cancelled half-way may have taken messages
	stop()           // workers release what they have not started
	close(s.work)
	background.Wait()
	hangs := s.finish(cancel)
	close(s.over)
	settling.Wait()
	return s.counts.drained(), errors.Join(err, hangs, s.unsettled())
}

// finish waits for running sends and cancels them when the grace is over.
func (s *session) finish(cancel context.CancelFunc) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.workers.Wait()
	}()
	for _, last := range []bool{false, true} {
		wait := s.cfg.Grace
		if last {
			wait = slack + min(s.cfg.Grace, 5*time.Second)
		}
		rang, stop := s.cfg.Clock.Timer(wait)
		select {
		case <-done:
			stop()
			return nil
		case <-rang:
		}
		cancel()
	}
	if n := s.abandonAll(); n > 0 {
		return fmt.Errorf("%w: %d sends are still running", ErrSinkHangs, n)
	}
	return nil
}
