package deadletters_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"stepback/outbox/deadletters"
)

// carriers is a source whose letters can also be delivered by carriers, which are under way until they have ended.
type carriers struct {
	*source
	ended map[string]bool // by carrier
}

func (c *carriers) Became(ctx context.Context, d *deadletters.Delivery, i int) (deadletters.Letter, error) {
	if d.Carrier == "" {
		return c.source.Became(ctx, d, i)
	}
	l := deadletters.Letter(d.Items[i].Found)
	if l.State = deadletters.Underway; c.ended[d.Carrier] {
		l.State, l.Reason = deadletters.Dead, "CarrierFailed"
	}
	return l, nil
}

func enlistment(id string, letters ...string) deadletters.Delivery {
	d := deadletters.Delivery{ID: id, Carrier: "carrier of " + id}
	for _, l := range letters {
		d.Items = append(d.Items, deadletters.Item{ID: l})
	}
	return d
}

func idsOf(d deadletters.Delivery) []string {
	ids := []string{}
	for _, it := range d.Items {
		ids = append(ids, it.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestEnlist claims letters for two carriers: each letter is part of one delivery, and a repeat returns the first
// decision.
func TestEnlist(t *testing.T) {
	t.Parallel()
	store, s, m := newStore()
	store.Source = &carriers{s, map[string]bool{}}
	now := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	store.Now = func() time.Time { return now }
	if err := store.Discard(t.Context(), "l3", deadletters.By{Who: "ann", Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	by := deadletters.By{Who: "the import of a.csv"}
	d, err := store.Enlist(t.Context(), enlistment("one", "l0", "l1", "l0", "l3", "l9"), by)
	if err != nil || fmt.Sprint(idsOf(d)) != "[l0 l1]" || len(d.LeftOut) != 2 ||
		d.LeftOut["l3"] != "its letter is discarded: discarded by ann at 2026-11-26T00:00:00Z" ||
		d.LeftOut["l9"] != "there is no letter with this ID" {
		t.Fatalf("%+v, %v", d, err)
	}
	other := &deadletters.SourceStore{Source: store.Source, Documents: m, Now: store.Now}
	d, err = other.Enlist(t.Context(), enlistment("two", "l1", "l2"), by)
	if err != nil || fmt.Sprint(idsOf(d)) != "[l2]" ||
		d.LeftOut["l1"] != "its letter is underway: imported by the import of a.csv at 2026-11-26T00:00:00Z" {
		t.Fatalf("%+v, %v", d, err)
	}
	if d, err = other.Enlist(t.Context(), enlistment("one", "l2"), by); err != nil || fmt.Sprint(idsOf(d)) != "[l0 l1]" {
		t.Errorf("repeated: %+v, %v", d, err)
	}
	for _, id := range everything {
		if _, not := errors.AsType[*deadletters.NotDeadError](store.Redrive(t.Context(), id, by)); !not {
			t.Errorf("%s was redriven", id)
		}
	}
}

// TestACarrierThatEndsBeforeItsDecisionReleasesItsLetters kills a carrier at each write of Enlist. Once it has ended,
// its letters can be redriven; if it comes back after that, they are no longer part of it.
func TestACarrierThatEndsBeforeItsDecisionReleasesItsLetters(t *testing.T) {
	t.Parallel()
	for failAt := 1; failAt <= 3; failAt++ {
		store, s, m := newStore()
		c := &carriers{s, map[string]bool{}}
		store.Source = c
		by := deadletters.By{Who: "the import of a.csv"}
		m.failAt = failAt
		if _, err := store.Enlist(t.Context(), enlistment("one", "l0", "l1"), by); !errors.Is(err, errGone) {
			t.Fatalf("write %d: %v", failAt, err)
		}
		m.failAt = 0
		if failAt > 1 {
			if l, err := store.Show(t.Context(), "l2"); err != nil || l.State != deadletters.Dead {
				t.Errorf("another letter is %s, %v", l.State, err)
			}
		}
		c.ended["carrier of one"] = true
		other := &deadletters.SourceStore{Source: c, Documents: m}
		for i, err := range other.RedriveAll(t.Context(), []string{"l0", "l1"}, deadletters.By{Who: "ann"}) {
			if err != nil {
				t.Errorf("write %d: l%d: %v", failAt, i, err)
			}
		}
		if len(s.received) != 2 {
			t.Errorf("write %d: received %v", failAt, s.received)
		}
		d, err := store.Enlist(t.Context(), enlistment("one", "l0", "l1"), by)
		if err != nil || len(d.Items) > 0 {
			t.Errorf("write %d: the carrier came back with %+v, %v", failAt, d, err)
		}
	}
}
