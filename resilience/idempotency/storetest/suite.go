// Package storetest is the suite that every idempotency.Store passes.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stepback/resilience/idempotency"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// Run tests a store against the interface. open returns the same store, or another one over the same keys, each time
// it is called; purges reports whether Purge removes anything.
func Run(t *testing.T, purges bool, open func(t *testing.T) idempotency.Store) {
	t.Helper()
	s := suite{open}
	t.Run("first runs, second waits, third is answered", s.order)
	t.Run("another request under the key", s.mismatch)
	t.Run("no fingerprint", s.noFingerprint)
	t.Run("never done while it runs", s.neverDone)
	t.Run("taken over when the lease has ended", s.takeOver)
	t.Run("the clock is set back", s.setBack)
	t.Run("release", s.release)
	t.Run("extend", s.extend)
	t.Run("expiry", s.expiry)
	t.Run("asked for again", s.again)
	t.Run("answers of all kinds", s.answers)
	t.Run("one of many claims", s.race)
	if purges {
		t.Run("purge", s.purge)
	}
}

type suite struct {
	open func(t *testing.T) idempotency.Store
}

func claim(key, token string, now time.Time) idempotency.Claim {
	return idempotency.Claim{
		Key:         key,
		Fingerprint: []byte("print"),
		Token:       token,
		Now:         now,
		Until:       now.Add(time.Minute),
		Expires:     now.Add(time.Hour),
	}
}

func begin(t *testing.T, s idempotency.Store, c idempotency.Claim, want idempotency.State) idempotency.Standing {
	t.Helper()
	got, err := s.Begin(t.Context(), c)
	if err != nil || got.State != want {
		t.Fatalf("%s under %s: %s, %v; want %s", c.Token, c.Key, got.State, err, want)
	}
	return got
}

var created = idempotency.Answer{
	Status: 201,
	Header: map[string][]string{"Location": {"/orders/1"}, "X-Two": {"a", "b"}},
	Body:   []byte("made\x00it"),
}

func finish(t *testing.T, s idempotency.Store, key, token string, now time.Time) {
	t.Helper()
	if err := s.Finish(t.Context(), key, token, created, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func wantAnswer(t *testing.T, got idempotency.Standing, want idempotency.Answer) {
	t.Helper()
	if got.Answer.Status != want.Status || !bytes.Equal(got.Answer.Body, want.Body) ||
		len(got.Answer.Header) != len(want.Header) ||
		len(want.Header) > 0 && !reflect.DeepEqual(got.Answer.Header, want.Header) {
		t.Errorf("answer %+v, want %+v", got.Answer, want)
	}
}

func (x suite) order(t *testing.T) {
	s := x.open(t)
	if got := begin(t, s, claim("order", "1", noon), idempotency.Claimed); got.TakenOver {
		t.Error("a new key was taken over")
	}
	if got := begin(t, s, claim("order", "2", noon.Add(time.Second)), idempotency.Running); !got.Until.Equal(
		noon.Add(time.Minute)) {
		t.Errorf("runs until %s", got.Until)
	}
	finish(t, s, "order", "1", noon)
	wantAnswer(t, begin(t, x.open(t), claim("order", "3", noon.Add(time.Second)), idempotency.Done), created)
}

func (x suite) mismatch(t *testing.T) {
	s := x.open(t)
	begin(t, s, claim("mismatch", "1", noon), idempotency.Claimed)
	other := claim("mismatch", "2", noon)
	other.Fingerprint = []byte("another")
	begin(t, s, other, idempotency.Mismatched)
	other.Now = noon.Add(2 * time.Minute)
	begin(t, s, other, idempotency.Mismatched) // even after the lease has ended
	finish(t, s, "mismatch", "1", noon)
	begin(t, s, other, idempotency.Mismatched)
}

func (x suite) noFingerprint(t *testing.T) {
	s := x.open(t)
	none := claim("no fingerprint", "1", noon)
	none.Fingerprint = nil
	begin(t, s, none, idempotency.Claimed)
	begin(t, s, none, idempotency.Claimed) // the same claim again
	none.Token = "2"
	begin(t, s, none, idempotency.Running)
	empty := none
	empty.Fingerprint = []byte{}
	begin(t, s, empty, idempotency.Running)
	begin(t, s, claim("no fingerprint", "3", noon), idempotency.Mismatched)
	finish(t, s, "no fingerprint", "1", noon)
	wantAnswer(t, begin(t, s, none, idempotency.Done), created)
}

func (x suite) neverDone(t *testing.T) {
	s := x.open(t)
	for i := range 20 {
		key := fmt.Sprint("running", i)
		begin(t, s, claim(key, "1", noon), idempotency.Claimed)
		for j := range 3 {
			begin(t, s, claim(key, fmt.Sprint("other", j), noon.Add(59*time.Second)), idempotency.Running)
		}
	}
}

func (x suite) takeOver(t *testing.T) {
	s := x.open(t)
	begin(t, s, claim("crash", "1", noon), idempotency.Claimed)
	late := noon.Add(time.Minute)
	if got := begin(t, s, claim("crash", "2", late), idempotency.Claimed); !got.TakenOver {
		t.Error("no error says that it was taken over")
	}
	for what, err := range map[string]error{
		"finish": s.Finish(t.Context(), "crash", "1", idempotency.Answer{Status: 500}, late.Add(time.Hour)),
		"extend": s.Extend(t.Context(), "crash", "1", late.Add(time.Hour)),
	} {
		if !errors.Is(err, idempotency.ErrLeaseLost) {
			t.Errorf("%s by the one that lost its lease: %v", what, err)
		}
	}
	if err := s.Release(t.Context(), "crash", "1"); err != nil {
		t.Error(err)
	}
	begin(t, s, claim("crash", "3", late), idempotency.Running)
	finish(t, s, "crash", "2", late)
	wantAnswer(t, begin(t, s, claim("crash", "3", late), idempotency.Done), created)
	// A claim whose lease has ended remains valid until another claim takes the key.
	begin(t, s, claim("slow", "1", noon), idempotency.Claimed)
	finish(t, s, "slow", "1", late)
}

// setBack has the clock go back by a day after a claim: the key is free again after the lease's minute, not after a
// day, unless its holder renews the lease.
func (x suite) setBack(t *testing.T) {
	s := x.open(t)
	begin(t, s, claim("set back", "1", noon), idempotency.Claimed)
	before := noon.Add(-24 * time.Hour)
	if got := begin(t, s, claim("set back", "2", before), idempotency.Running); !got.Until.Equal(before.Add(time.Minute)) {
		t.Errorf("runs until %s", got.Until)
	}
	begin(t, s, claim("set back", "2", before.Add(59*time.Second)), idempotency.Running)
	if got := begin(t, s, claim("set back", "2", before.Add(time.Minute)), idempotency.Claimed); !got.TakenOver {
		t.Error("the claim was not taken over")
	}
	begin(t, s, claim("renewed", "1", noon), idempotency.Claimed)
	begin(t, s, claim("renewed", "2", before), idempotency.Running)
	if err := s.Extend(t.Context(), "renewed", "1", before.Add(90*time.Second)); err != nil {
		t.Error(err)
	}
	begin(t, s, claim("renewed", "2", before.Add(61*time.Second)), idempotency.Running)
	finish(t, s, "renewed", "1", before.Add(62*time.Second))
	wantAnswer(t, begin(t, s, claim("renewed", "2", before.Add(63*time.Second)), idempotency.Done), created)
}

func (x suite) release(t *testing.T) {
	s := x.open(t)
	begin(t, s, claim("release", "1", noon), idempotency.Claimed)
	if err := s.Release(t.Context(), "release", "1"); err != nil {
		t.Fatal(err)
	}
	if got := begin(t, s, claim("release", "2", noon), idempotency.Claimed); got.TakenOver {
		t.Error("a released key was taken over")
	}
	finish(t, s, "release", "2", noon)
	if err := s.Release(t.Context(), "release", "2"); err != nil {
		t.Fatal(err)
	}
	begin(t, s, claim("release", "3", noon), idempotency.Done) // a finished key is not released
	if err := s.Finish(t.Context(), "nobody", "1", created, noon); !errors.Is(err, idempotency.ErrLeaseLost) {
		t.Errorf("finishing a missing key: %v", err)
	}
}

func (x suite) extend(t *testing.T) {
	s := x.open(t)
	begin(t, s, claim("extend", "1", noon), idempotency.Claimed)
	if err := s.Extend(t.Context(), "extend", "1", noon.Add(10*time.Minute)); err != nil {
		t.Fatal(err)
	}
	begin(t, s, claim("extend", "2", noon.Add(9*time.Minute)), idempotency.Running)
	begin(t, s, claim("extend", "3", noon.Add(10*time.Minute)), idempotency.Claimed)
}

func (x suite) expiry(t *testing.T) {
	s := x.open(t)
	begin(t, s, claim("expiry", "1", noon), idempotency.Claimed)
	finish(t, s, "expiry", "1", noon)
	begin(t, s, claim("expiry", "2", noon.Add(time.Hour-time.Second)), idempotency.Done)
	other := claim("expiry", "3", noon.Add(time.Hour))
	other.Fingerprint = []byte("another") // an expired key may be used for anything
	begin(t, s, other, idempotency.Claimed)
	begin(t, s, claim("expiry", "4", noon.Add(time.Hour)), idempotency.Mismatched)
	// A running key does not expire.
	begin(t, s, claim("long", "1", noon), idempotency.Claimed)
	if err := s.Extend(t.Context(), "long", "1", noon.Add(3*time.Hour)); err != nil {
		t.Fatal(err)
	}
	begin(t, s, claim("long", "2", noon.Add(2*time.Hour)), idempotency.Running)
	begin(t, s, claim("long", "3", noon.Add(3*time.Hour)), idempotency.Claimed)
}

func (x suite) again(t *testing.T) {
	s := x.open(t)
	begin(t, s, claim("again", "1", noon), idempotency.Claimed)
	begin(t, s, claim("again", "1", noon), idempotency.Claimed) // the first response may have been lost
	finish(t, s, "again", "1", noon)
	if err := s.Finish(t.Context(), "again", "1", created, noon.Add(time.Hour)); err != nil {
		t.Errorf("finishing again: %v", err)
	}
	wantAnswer(t, begin(t, s, claim("again", "1", noon), idempotency.Done), created)
}

func (x suite) answers(t *testing.T) {
	s := x.open(t)
	for i, a := range []idempotency.Answer{
		{Status: 204}, {Status: -1}, {Status: 200, Body: bytes.Repeat([]byte{0xff, 0}, 50_000)},
		{Status: 500, Header: map[string][]string{"X": {"日本語", ""}}},
	} {
		key := fmt.Sprint("answer", i, `" '日本`)
		begin(t, s, claim(key, "1", noon), idempotency.Claimed)
		if err := s.Finish(t.Context(), key, "1", a, noon.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		wantAnswer(t, begin(t, s, claim(key, "2", noon), idempotency.Done), a)
	}
}

func (x suite) race(t *testing.T) {
	s := x.open(t)
	for round := range 5 {
		key, claimed := fmt.Sprint("race", round), atomic.Int32{}
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				got, err := s.Begin(t.Context(), claim(key, strconv.Itoa(i), noon))
				if err != nil {
					t.Error(err)
				}
				if got.State == idempotency.Claimed {
					claimed.Add(1)
				}
			})
		}
		all.Wait()
		if claimed.Load() != 1 {
			t.Errorf("%d have claimed the key", claimed.Load())
		}
	}
}

func (x suite) purge(t *testing.T) {
	s := x.open(t)
	past := noon.AddDate(-1, 0, 0)
	for i := range 5 {
		begin(t, s, claim(fmt.Sprint("old", i), "1", past), idempotency.Claimed)
	}
	for _, want := range []int{3, 2, 0} {
		if n, err := s.Purge(t.Context(), past.Add(2*time.Hour), 3); n != want || err != nil {
			t.Errorf("%d, %v were purged; want %d", n, err, want)
		}
	}
}
