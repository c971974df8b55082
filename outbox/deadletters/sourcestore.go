package deadletters

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SourceStore is a Store for letters of a Source, which keeps no record of acts. The acts are stored in documents,
// one for each letter that has been acted on.
//
// To redrive a letter, SourceStore claims it for a delivery and then hands the delivery over. If an operator's
// process dies in between, the next redrive of one of the delivery's letters completes it as planned, at least a
// minute later. However many operators redrive a letter, it is part of only one delivery at a time.
type SourceStore struct {
	Source    Source
	Documents Documents
	Now       func() time.Time // nil means time.Now

	mu       sync.Mutex
	snapshot []Letter // of the list that was started last
	began    string
}

// abandoned is the age from which an incomplete delivery is considered abandoned.
const abandoned = time.Minute

func (r *SourceStore) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// found returns a letter from its source or, if the source no longer has it, as it was at its first act.
func (r *SourceStore) found(ctx context.Context, id string, e *entry) (Letter, error) {
	if !r.Source.Owns(id) {
		return Letter{}, ErrNotFound
	}
	l, err := r.Source.Find(ctx, id)
	if errors.Is(err, ErrNotFound) && e.version != "" {
		return Letter(e.Found), nil
	}
	return l, err
}

// current returns a letter in its current state, after the acts on it.
func (r *SourceStore) current(ctx context.Context, l Letter, e *entry, read *deliveries) (Letter, error) {
	l.Kind, l.State = r.Source.Kind(), Dead
	if e.version == "" {
		return l, nil
	}
	if e.State != Dead && e.last() != "" {
		var err error
		if l, err = r.inDelivery(ctx, l, e, read); err != nil {
			return l, err
		}
	}
	if e.State == Discarded {
		l.State, l.NextAttemptAt, l.Undecided = Discarded, time.Time{}, false
	}
	l.Redrives = len(e.Deliveries)
	if e.Edited != nil {
		l.Edited = e.Edited
	}
	return l, nil
}

// inDelivery returns a letter with its state in its last delivery.
func (r *SourceStore) inDelivery(ctx context.Context, l Letter, e *entry, read *deliveries) (Letter, error) {
	d, err := read.delivery(ctx, r, e.last())
	if err != nil {
		return l, err
	}
	i, part := d.at[l.ID]
	in := &d.Delivery
	if d.Carrier != "" {
		one := d.Delivery
		one.Items = []Item{{ID: l.ID, Found: Found(l)}}
		in, i = &one, 0
	}
	switch {
	case part:
		became, err := r.Source.Became(ctx, in, i)
		if err != nil {
			return l, err
		}
		became.ID, became.Kind, became.Payload, became.CreatedAt = l.ID, r.Source.Kind(), l.Payload, l.CreatedAt
		became.Subject, became.Key, became.ContentType = l.Subject, l.Key, l.ContentType
		return became, nil
	case d.decided: // it was claimed, but the delivery had been decided without it
		return l, nil
	case d.Carrier == "":
		l.State = Underway
		return l, nil
	}
	// Nothing of a delivery that is not decided has been delivered.
	became, err := r.Source.Became(ctx, in, i)
	if err != nil {
		return l, err
	}
	if became.State != Dead {
		l.State = Underway
		return l, nil
	}
	e.open = true
	return l, nil
}

// deliveries caches deliveries. It is safe for concurrent use.
type deliveries struct {
	mu   sync.Mutex
	read map[string]*readDelivery
}

// readDelivery is a delivery as it was decided or, before that, planned.
type readDelivery struct {
	Delivery
	decided bool
	at      map[string]int // indices of the items, by letter; empty unless the delivery is decided
}

// delivery returns a delivery, reading it only once.
func (c *deliveries) delivery(ctx context.Context, r *SourceStore, id string) (*readDelivery, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.read[id]; d != nil {
		return d, nil
	}
	d := &readDelivery{at: map[string]int{}}
	var err error
	if d.Delivery, d.decided, err = r.delivery(ctx, id, decided); err != nil {
		return nil, err
	}
	if !d.decided {
		if d.Delivery, _, err = r.delivery(ctx, id, planned); err != nil {
			return nil, err
		}
		d.Items = nil
	}
	for i := range d.Items {
		d.at[d.Items[i].ID] = i
	}
	if c.read == nil {
		c.read = map[string]*readDelivery{}
	}
	c.read[id] = d
	return d, nil
}

// Show implements Store.
func (r *SourceStore) Show(ctx context.Context, id string) (Letter, error) {
	l, _, err := r.show(ctx, id, new(deliveries))
	return l, err
}

func (r *SourceStore) show(ctx context.Context, id string, read *deliveries) (Letter, entry, error) {
	if !r.Source.Owns(id) {
		return Letter{}, entry{}, ErrNotFound
	}
	e, err := r.entry(ctx, id)
	if err != nil {
		return Letter{}, e, err
	}
	l, err := r.found(ctx, id, &e)
	if err != nil {
		return l, e, err
	}
	if e.version == "" {
		e.Found = Found(l)
	}
	l, err = r.current(ctx, l, &e, read)
	return l, e, err
}

// all returns the dead letters, oldest first.
func (r *SourceStore) all(ctx context.Context) ([]Letter, error) {
	entries, err := r.entries(ctx)
	if err != nil {
		return nil, err
	}
	read := new(deliveries)
	var dead []Letter
	seen := map[string]bool{}
	add := func(l Letter) error {
		e := entries[l.ID]
		seen[l.ID] = true
		l, err := r.current(ctx, l, &e, read)
		if err == nil && l.State == Dead {
			dead = append(dead, l)
		}
		return err
	}
	if err := r.Source.Each(ctx, add); err != nil {
		return nil, err
	}
	for id, e := range entries { // letters that the source no longer has
		if !seen[id] && e.State != Discarded {
			if err := add(Letter(e.Found)); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(dead, func(a, b Letter) int {
		return cmp.Or(a.DeadAt.Compare(b.DeadAt), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return dead, nil
}

// List implements Store. All pages of a list show the letters as they were when the first page was read.
func (r *SourceStore) List(ctx context.Context, q Query) (Page, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := 0
	if q.After == "" {
		all, err := r.all(ctx)
		if err != nil {
			return Page{}, err
		}
		r.snapshot, r.began = all, newDeliveryID()
	} else {
		began, at, _ := strings.Cut(q.After, " ")
		n, err := strconv.Atoi(at)
		if err != nil || began != r.began || n < 0 || n > len(r.snapshot) {
			return Page{}, badPage(q.After)
		}
		from = n
	}
	var page Page
	for i := from; i < len(r.snapshot); i++ {
		if !q.Takes(&r.snapshot[i]) {
			continue
		}
		if len(page.Letters) >= q.Limit {
			page.Next = r.began + " " + strconv.Itoa(i)
			return page, nil
		}
		page.Letters = append(page.Letters, r.snapshot[i])
	}
	return page, nil
}

// Groups implements Store.
func (r *SourceStore) Groups(ctx context.Context, f Filter) ([]Group, error) {
	all, err := r.all(ctx)
	if err != nil {
		return nil, err
	}
	var groups []Group
	at := map[[3]string]int{}
	for i := range all {
		l := &all[i]
		if !f.Takes(l) {
			continue
		}
		by := [3]string{l.Reason, l.Error, l.Subject}
		n, ok := at[by]
		if !ok {
			n = len(groups)
			at[by] = n
			groups = append(groups, Group{Kind: l.Kind, Reason: l.Reason, Error: l.Error, Subject: l.Subject,
				Oldest: l.DeadAt, Sample: l.ID})
		}
		groups[n].Count++
		groups[n].Newest = l.DeadAt
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Count, a.Count) })
	return groups, nil
}

// Acts implements Store.
func (r *SourceStore) Acts(ctx context.Context, id string, limit int) ([]Act, error) {
	var all []Act
	if id != "" {
		_, e, err := r.show(ctx, id, new(deliveries))
		if err != nil {
			return nil, err
		}
		all = e.Acts
	} else {
		entries, err := r.entries(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			all = append(all, e.Acts...)
		}
	}
	slices.SortStableFunc(all, func(a, b Act) int { return a.At.Compare(b.At) })
	slices.Reverse(all)
	return all[:min(limit, len(all))], nil
}
