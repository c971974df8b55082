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

// Set holds the faults of a platform. It is safe for concurrent use.
type Set struct {
	clock    *clock.Clock
	services []Service

	active atomic.Pointer[[]*fault] // the list that requests read; nil if there are none
	mu     sync.Mutex
	last   int
	faults []*fault
}

// New returns a Set for services on a clock.
func New(c *clock.Clock, services []Service) *Set { return &Set{clock: c, services: services} }

// Fault is a fault as listed.
type Fault struct {
	// ID identifies the fault until the process ends.
	ID int `json:"id"`
	// Fault is the fault in its written form; see Spec for its parts.
	Fault string  `json:"fault"`
	Rate  float64 `json:"rate"`
	Seed  uint64  `json:"seed"`
	// Added is the time at which the fault was added. Until is the time at which it ends by itself; nil means that
	// it stays until lifted.
	Added time.Time  `json:"added"`
	Until *time.Time `json:"until,omitempty"`
	// Requests is the number of requests that the fault applied to. Injected is how many of them (or of their batch
	// entries) were affected.
	Requests int64 `json:"requests"`
	Injected int64 `json:"injected"`
}

// fault is an active fault.
type fault struct {
	id    int
	spec  Spec
	seed  uint64
	added time.Time
	until time.Time // zero: until it is lifted

	// Set.mu guards these.
	ended   bool
	hanging map[*clock.Bell]struct{} // of the requests that hang

	drawn, requests, injected atomic.Int64
}

// Wanted is a fault to be added.
type Wanted struct {
	// Fault is SERVICE:ACTION:ERROR:RATE or SERVICE:ACTION:latency:TIME.
	Fault string
	// Seed determines which requests are affected.
	Seed uint64
	// For is the time for which the fault stays active; 0 means until it is lifted.
	For time.Duration
}

// maxFaults is the maximum number of faults in a Set.
const maxFaults = 100

// Check returns an error if a fault is invalid.
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

// Add adds faults: all of them or, on an error, none. Faults apply in the order in which they were added: the first
// one that refuses a request ends it; latencies before that add up.
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
		made[i] = &fault{spec: spec, seed: w.Seed, added: s.clock.Now(), hanging: map[*clock.Bell]struct{}{}}
		if w.For > 0 {
			made[i].until = made[i].added.Add(w.For)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	if len(s.faults)+len(made) > maxFaults {
		return nil, fmt.Errorf("there are %d faults, and at most %d can be active; lift some first", len(s.faults),
			maxFaults)
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

// List returns the active faults, in the order in which they were added.
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

// Lift ends faults by ID. An error names an ID that does not exist; the other faults are lifted nevertheless.
func (s *Set) Lift(ids ...int) (lifted int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	for _, id := range ids {
		i := slices.IndexFunc(s.faults, func(f *fault) bool { return f.id == id })
		if i < 0 {
			err = fmt.Errorf("there is no fault %d; stepback chaos list lists the active ones", id)
			continue
		}
		s.faults[i].end()
		s.faults = slices.Delete(s.faults, i, i+1)
		lifted++
	}
	s.publish()
	return lifted, err
}

// LiftAll ends all faults and returns their number. Hanging requests end.
func (s *Set) LiftAll() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	n := len(s.faults)
	for _, f := range s.faults {
		f.end()
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

// prune removes the faults whose time has ended.
func (s *Set) prune() {
	now := s.clock.Now()
	s.faults = slices.DeleteFunc(s.faults, func(f *fault) bool {
		over := f.over(now)
		if over {
			f.end()
		}
		return over
	})
}

func (f *fault) over(now time.Time) bool { return !f.until.IsZero() && !now.Before(f.until) }

// publish makes the current faults visible to requests.
func (s *Set) publish() {
	if len(s.faults) == 0 {
		s.active.Store(nil)
		return
	}
	all := slices.Clone(s.faults)
	s.active.Store(&all)
}

// of returns the faults of a service.
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

// draw determines whether the next request is affected, and draws two further values for the effect: at, from 0 to 1,
// and second.
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

// sleep waits on the clock; it returns false if the context ended first.
func (s *Set) sleep(ctx context.Context, d time.Duration) bool {
	if !clock.IsHolding(ctx) {
		s.clock.Hold()
		defer s.clock.Release()
	}
	return s.clock.Sleep(ctx, d) == nil
}

// hang waits until the client gives up or the fault ends. Virtual time does not advance from the end of the fault until
// the request continues.
func (s *Set) hang(ctx context.Context, f *fault) {
	if !clock.IsHolding(ctx) {
		s.clock.Hold()
		defer s.clock.Release()
	}
	b := s.clock.NewBell()
	s.mu.Lock()
	ended := f.ended
	if !ended {
		f.hanging[b] = struct{}{}
	}
	s.mu.Unlock()
	if ended {
		return
	}
	_ = b.Await(ctx) // either way, the hang is over
	s.mu.Lock()
	delete(f.hanging, b)
	s.mu.Unlock()
}

// end wakes the requests that hang. The caller holds Set.mu.
func (f *fault) end() {
	f.ended = true
	for b := range f.hanging {
		b.Ring()
	}
}
