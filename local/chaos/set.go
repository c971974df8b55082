package chaos

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stepback/engine/clock"
)

// Set has the faults of a platform. It is safe for concurrent use.
type Set struct {
	clock    *clock.Clock
	services []Service

	active atomic.Pointer[[]*fault] // what requests look at; nil when there is none
	mu     sync.Mutex
	last   int
	faults []*fault
}

// New makes a Set for services on a clock.
func New(c *clock.Clock, services []Service) *Set { return &Set{clock: c, services: services} }

// Fault is a fault as it is listed.
type Fault struct {
	// ID names it until the process ends.
	ID int `json:"id"`
	// Fault is how it is written; see Spec for its parts.
	Fault string  `json:"fault"`
	Rate  float64 `json:"rate"`
	Seed  uint64  `json:"seed"`
	// Added is when it was added; Until when it ends by itself, nil for one that stays until it is lifted.
	Added time.Time  `json:"added"`
	Until *time.Time `json:"until,omitempty"`
	// Requests is how many requests it applied to, Injected how many of them (or entries of batches) suffered.
	Requests int64 `json:"requests"`
	Injected int64 `json:"injected"`
}

// fault is a fault that applies.
type fault struct {
	id    int
	spec  Spec
	seed  uint64
	added time.Time
	until time.Time // zero: until it is lifted
	ended chan struct{}

	drawn, requests, injected atomic.Int64
}

// Wanted is a fault to be added.
type Wanted struct {
	// Fault is SERVICE:ACTION:ERROR:RATE or SERVICE:ACTION:latency:TIME.
	Fault string
	// Seed decides which requests suffer.
	Seed uint64
	// For is how long it applies; 0 means until it is lifted.
	For time.Duration
}

// MaxFaults bounds the faults of a Set.
const MaxFaults = 100

// Check says what is wrong with a fault.
func (s *Set) Check(text string) error {
	_, err := s.parse(text)
	return err
}

func (s *Set) parse(text string) (Spec, error) {
	spec, err := parseSpec(text)
	if err != nil {
		return spec, err
	}
	if spec, err = s.resolve(spec); err != nil {
		return spec, fmt.Errorf("fault %q: %w", text, err)
	}
	return spec, nil
}

// Add adds faults: all of them or, with an error, none. Faults apply in the order in which they were added: the first
// one that refuses a request ends it, latencies before that add up.
func (s *Set) Add(wanted []Wanted) ([]Fault, error) {
	made := make([]*fault, len(wanted))
	for i, w := range wanted {
		spec, err := s.parse(w.Fault)
		if err != nil {
			return nil, err
		}
		if w.For < 0 {
			return nil, fmt.Errorf("fault %q: the time %s is negative", w.Fault, w.For)
		}
		made[i] = &fault{spec: spec, seed: w.Seed, added: s.clock.Now(), ended: make(chan struct{})}
		if w.For > 0 {
			made[i].until = made[i].added.Add(w.For)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	if len(s.faults)+len(made) > MaxFaults {
		return nil, fmt.Errorf("there are %d faults, and at most %d apply at a time; lift some first", len(s.faults),
			MaxFaults)
	}
	added := make([]Fault, len(made))
	for i, f := range made {
		s.last++
		f.id = s.last
		added[i] = f.listed()
	}
	s.faults = append(s.faults, made...)
	s.publish()
	for _, f := range made {
		if !f.until.IsZero() {
			s.clock.ScheduleInBackground(f.until, clock.AlarmFunc(func() { s.expire() }))
		}
	}
	return added, nil
}

// List returns the faults that apply, in the order in which they were added.
func (s *Set) List() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	all := make([]Fault, len(s.faults))
	for i, f := range s.faults {
		all[i] = f.listed()
	}
	return all
}

// Lift ends faults by their IDs. The error names one that is not there; the others have been lifted then.
func (s *Set) Lift(ids ...int) (lifted int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	for _, id := range ids {
		i := slices.IndexFunc(s.faults, func(f *fault) bool { return f.id == id })
		if i < 0 {
			err = fmt.Errorf("there is no fault %d; stepback chaos list has those that apply", id)
			continue
		}
		close(s.faults[i].ended)
		s.faults = slices.Delete(s.faults, i, i+1)
		lifted++
	}
	s.publish()
	return lifted, err
}

// LiftAll ends all faults and says how many there were. Requests that hang end.
func (s *Set) LiftAll() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	n := len(s.faults)
	for _, f := range s.faults {
		close(f.ended)
	}
	s.faults = nil
	s.publish()
	return n
}

func (s *Set) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	s.publish()
}

// prune forgets the faults whose time is over.
func (s *Set) prune() {
	now := s.clock.Now()
	s.faults = slices.DeleteFunc(s.faults, func(f *fault) bool {
		over := f.over(now)
		if over {
			close(f.ended)
		}
		return over
	})
}

func (f *fault) over(now time.Time) bool { return !f.until.IsZero() && !now.Before(f.until) }

// publish shows requests which faults apply.
func (s *Set) publish() {
	if len(s.faults) == 0 {
		s.active.Store(nil)
		return
	}
	all := slices.Clone(s.faults)
	s.active.Store(&all)
}

// of are the faults of a service.
func (s *Set) of(service string) []*fault {
	all := s.active.Load()
	if all == nil {
		return nil
	}
	var found []*fault
	now := s.clock.Now()
	for _, f := range *all {
		if matches(f.spec.Service, service) && !f.over(now) {
			found = append(found, f)
		}
	}
	return found
}

func (f *fault) listed() Fault {
	l := Fault{ID: f.id, Fault: f.spec.String(), Rate: f.spec.Rate, Seed: f.seed, Added: f.added,
		Requests: f.requests.Load(), Injected: f.injected.Load()}
	if !f.until.IsZero() {
		l.Until = &f.until
	}
	return l
}

// draw draws for the next request: whether it suffers, and two further numbers for what befalls it, from 0 to 1.
func (f *fault) draw() (hit bool, at float64, second bool) {
	h := sha256.New()
	var b [8 + 8]byte
	binary.BigEndian.PutUint64(b[:8], f.seed)
	binary.BigEndian.PutUint64(b[8:], uint64(f.drawn.Add(1)))
	h.Write(b[:])
	h.Write([]byte(f.spec.Service + ":" + f.spec.Action + ":" + f.spec.Error))
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	unit := func(b []byte) float64 { return float64(binary.BigEndian.Uint64(b)>>11) / (1 << 53) }
	return unit(sum[:8]) < f.spec.Rate, unit(sum[8:16]), sum[16]&1 == 1
}

// sleep waits on the clock; false when the context ended first.
func (s *Set) sleep(ctx context.Context, d time.Duration) bool {
	if !clock.IsHolding(ctx) {
		s.clock.Hold()
		defer s.clock.Release()
	}
	return s.clock.Sleep(ctx, d) == nil
}

// hang waits until the client gives up or the fault ends.
func (s *Set) hang(ctx context.Context, f *fault) {
	if clock.IsHolding(ctx) {
		defer s.clock.Yield(ctx)()
	}
	select {
	case <-ctx.Done():
	case <-f.ended:
	}
}
