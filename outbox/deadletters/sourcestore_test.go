package deadletters_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/outbox/deadletters"
)

// memory is a Documents in memory that starts failing at a given write.
type memory struct {
	mu     sync.Mutex
	texts  map[string]string
	writes int
	failAt int // the write from which on everything fails; 0 means never
}

var errGone = errors.New("the record is away")

func (m *memory) Get(_ context.Context, name string) ([]byte, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failAt > 0 && m.writes >= m.failAt {
		return nil, "", errGone
	}
	text, ok := m.texts[name]
	if !ok {
		return nil, "", nil
	}
	return []byte(text), versionOf(text), nil
}

func versionOf(text string) string { return strconv.Itoa(len(text)) + text }

func (m *memory) Put(_ context.Context, name string, text []byte, version string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failAt > 0 && m.writes >= m.failAt {
		return errGone
	}
	m.writes++
	before, ok := m.texts[name]
	if ok != (version != "") || ok && versionOf(before) != version {
		return deadletters.ErrConflict
	}
	m.texts[name] = string(text)
	return nil
}

func (m *memory) Each(ctx context.Context, prefix string, visit func(string, []byte, string) error) error {
	m.mu.Lock()
	var names []string
	for name := range m.texts {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	m.mu.Unlock()
	slices.Sort(names)
	for _, name := range names {
		text, version, err := m.Get(ctx, name)
		if err != nil {
			return err
		}
		if err := visit(name, text, version); err != nil {
			return err
		}
	}
	return nil
}

// source is a Source whose receiver recognises repeats by the delivery and the item.
type source struct {
	mu       sync.Mutex
	received map[string]string // payload by letter
	under    map[string]string // the delivery under which a letter was sent
	twice    []string
	refuses  string // a letter that it refuses
}

func (s *source) Kind() deadletters.Kind { return "test" }
func (s *source) Owns(id string) bool    { return strings.HasPrefix(id, "l") }

func (s *source) Each(ctx context.Context, visit func(deadletters.Letter) error) error {
	for i := range 4 {
		l, err := s.Find(ctx, "l"+strconv.Itoa(i))
		if err == nil {
			err = visit(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *source) Find(_ context.Context, id string) (deadletters.Letter, error) {
	n, err := strconv.Atoi(id[1:])
	if err != nil || n > 3 {
		return deadletters.Letter{}, deadletters.ErrNotFound
	}
	return deadletters.Letter{ID: id, Reason: "r" + strconv.Itoa(n%2), Error: "E", Payload: []byte(id),
		DeadAt: time.Unix(int64(n), 0)}, nil
}

func (s *source) CheckEdit(_ *deadletters.Letter, payload []byte) error {
	if string(payload) == "bad" {
		return &deadletters.BadActError{Why: "bad"}
	}
	return nil
}

func (s *source) Deliver(_ context.Context, d *deadletters.Delivery) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := make([]error, len(d.Items))
	for i, it := range d.Items {
		if it.Gone {
			continue
		}
		if it.ID == s.refuses {
			errs[i] = &deadletters.BadActError{Why: "not now"}
			continue
		}
		if before, ok := s.under[it.ID]; ok && before != d.ID {
			s.twice = append(s.twice, it.ID)
		}
		s.under[it.ID], s.received[it.ID] = d.ID, string(it.Payload)
	}
	return errs
}

func (s *source) Became(_ context.Context, d *deadletters.Delivery, i int) (deadletters.Letter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := deadletters.Letter(d.Items[i].Found)
	l.State = deadletters.Underway
	if _, ok := s.received[l.ID]; ok {
		l.State = deadletters.Delivered
	}
	return l, nil
}

func newStore() (*deadletters.SourceStore, *source, *memory) {
	s := &source{received: map[string]string{}, under: map[string]string{}}
	m := &memory{texts: map[string]string{}}
	return &deadletters.SourceStore{Source: s, Documents: m}, s, m
}

var everything = []string{"l0", "l1", "l2", "l3"}

// TestARedriveThatDiesIsFinishedByTheNextOne stops an operator before each write of a redrive. Another one, a minute
// later, sends each letter, and none in two deliveries.
func TestARedriveThatDiesIsFinishedByTheNextOne(t *testing.T) {
	t.Parallel()
	for failAt := 1; failAt < 12; failAt++ {
		t.Run(fmt.Sprint(failAt), func(t *testing.T) {
			t.Parallel()
			store, s, m := newStore()
			if err := store.Edit(t.Context(), "l1", []byte("mended"), deadletters.By{Who: "ann"}); err != nil {
				t.Fatal(err)
			}
			m.failAt = m.writes + failAt
			store.RedriveAll(t.Context(), everything, deadletters.By{Who: "ann"})
			m.failAt = 0
			later := &deadletters.SourceStore{Source: s, Documents: m,
				Now: func() time.Time { return time.Now().Add(2 * time.Minute) }}
			for i, err := range later.RedriveAll(t.Context(), everything, deadletters.By{Who: "bob"}) {
				if _, done := errors.AsType[*deadletters.NotDeadError](err); err != nil && !done {
					t.Errorf("%s: %v", everything[i], err)
				}
			}
			if len(s.twice) > 0 || len(s.received) != len(everything) || s.received["l1"] != "mended" {
				t.Errorf("received %v, twice %v", s.received, s.twice)
			}
			if page, err := later.List(t.Context(), deadletters.Query{Limit: 10}); err != nil || len(page.Letters) > 0 {
				t.Errorf("left are %+v, %v", page.Letters, err)
			}
		})
	}
}

func TestARefusedLetterStaysDead(t *testing.T) {
	t.Parallel()
	store, s, _ := newStore()
	s.refuses = "l2"
	errs := store.RedriveAll(t.Context(), everything, deadletters.By{Who: "ann"})
	if _, refused := errors.AsType[*deadletters.BadActError](errs[2]); !refused || errors.Join(errs[0], errs[1],
		errs[3]) != nil {
		t.Fatal(errs)
	}
	if l, err := store.Show(t.Context(), "l2"); err != nil || l.State != deadletters.Dead || l.Redrives != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	s.refuses = ""
	if err := store.Redrive(t.Context(), "l2", deadletters.By{Who: "ann"}); err != nil {
		t.Fatal(err)
	}
	if len(s.received) != 4 || len(s.twice) > 0 {
		t.Errorf("received %v, twice %v", s.received, s.twice)
	}
}

func TestActsOnLettersOfASource(t *testing.T) {
	t.Parallel()
	store, s, _ := newStore()
	ann, bob := deadletters.By{Who: "ann"}, deadletters.By{Who: "bob", Reason: "a test"}
	if err := store.Edit(t.Context(), "l0", []byte("bad"), ann); err == nil || err.Error() != "bad" {
		t.Errorf("a bad edit: %v", err)
	}
	if err := store.Edit(t.Context(), "l0", []byte("good"), ann); err != nil {
		t.Fatal(err)
	}
	if l, _ := store.Show(t.Context(), "l0"); string(l.Payload) != "l0" || string(l.Edited) != "good" {
		t.Errorf("%+v", l)
	}
	if err := store.Edit(t.Context(), "l0", []byte("l0"), ann); err != nil { // undoes the edit
		t.Fatal(err)
	}
	if l, _ := store.Show(t.Context(), "l0"); l.Edited != nil {
		t.Errorf("%+v", l)
	}
	if err := store.Discard(t.Context(), "l1", bob); err != nil {
		t.Fatal(err)
	}
	err := store.Redrive(t.Context(), "l1", ann)
	if not, ok := errors.AsType[*deadletters.NotDeadError](err); !ok || not.Last.Who != "bob" ||
		not.State != deadletters.Discarded {
		t.Errorf("redriving a discarded letter: %v", err)
	}
	for _, id := range []string{"l9", "x", "lx"} {
		if err := store.Redrive(t.Context(), id, ann); !errors.Is(err, deadletters.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
	groups, err := store.Groups(t.Context(), deadletters.Filter{})
	if err != nil || len(groups) != 2 || groups[0].Reason != "r0" || groups[0].Count != 2 || groups[1].Count != 1 {
		t.Errorf("%+v, %v", groups, err)
	}
	acts, err := store.Acts(t.Context(), "", 10)
	if err != nil || len(acts) != 3 || acts[0].Verb != deadletters.VerbDiscard {
		t.Errorf("%+v, %v", acts, err)
	}
	if len(s.received) > 0 {
		t.Errorf("received %v", s.received)
	}
}

// TestStoresArePagedOneAfterTheOther lists two stores as one.
func TestStoresArePagedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	a, _, _ := newStore()
	b, _, _ := newStore()
	never := func(string) bool { return false }
	stores := deadletters.Stores{{Kind: "a", Store: a, Owns: never}, {Kind: "b", Store: b, Owns: a.Source.Owns}}
	for limit := 1; limit < 10; limit++ {
		var got []string
		q := deadletters.Query{Limit: limit}
		for {
			page, err := stores.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range page.Letters {
				got = append(got, string(l.Kind)+l.ID)
			}
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if want := "al0 al1 al2 al3 bl0 bl1 bl2 bl3"; strings.Join(got, " ") != want {
			t.Errorf("pages of %d: %v", limit, got)
		}
	}
	groups, err := stores.Groups(t.Context(), deadletters.Filter{Kind: "b"})
	if err != nil || len(groups) != 2 || groups[0].Kind != "b" {
		t.Errorf("%+v, %v", groups, err)
	}
	if _, err := stores.List(t.Context(), deadletters.Query{After: "7 x", Limit: 1}); err == nil {
		t.Error("a page after nonsense was given")
	}
	if errs := stores.RedriveAll(t.Context(), []string{"l1", "nobody's"}, deadletters.By{Who: "ann"}); errs[0] != nil ||
		!errors.Is(errs[1], deadletters.ErrNotFound) {
		t.Error(errs)
	}
}
