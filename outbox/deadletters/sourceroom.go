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

// SourceRoom is a Room for letters of a Source, which keeps no record of acts. The acts are stored in documents,
// one for each letter that has been acted on.
//
// To redrive a letter, SourceRoom claims it for a delivery and then hands the delivery over. If an operator's
// process dies in between, the next redrive of one of the delivery's letters completes it as planned, at least a
// minute later. However many operators redrive a letter, it is part of only one delivery at a time.
type SourceRoom struct {
	Source    Source
	Documents Documents
	Now       func() time.Time // nil means time.Now

	mu       sync.Mutex
	snapshot []Letter // of the list that was started last
	began    string
}

// abandoned is the age from which an incomplete delivery is considered abandoned.
const abandoned = time.Minute

func (r *SourceRoom) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// found returns a letter from its source or, if the source no longer has it, as it was at its first act.
func (r *SourceRoom) found(ctx context.Context, id string, e *entry) (Letter, error) {
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
func (r *SourceRoom) current(ctx context.Context, l Letter, e *entry, deliveries map[string]*Delivery) (Letter, error) {
	l.Kind, l.State = r.Source.Kind(), Dead
	if e.version == "" {
		return l, nil
	}
	if e.State != Dead && e.last() != "" {
		d, err := r.cached(ctx, e.last(), deliveries)
		if err != nil {
			return l, err
		}
		l = r.stateIn(ctx, l, d, &err)
		if err != nil {
			return l, err
		}
	}
	if e.State == Discarded {
		l.State, l.NextAttemptAt = Discarded, time.Time{}
	}
	l.Redrives, l.Edited = len(e.Deliveries), e.Edited
	return l, nil
}

// stateIn returns a letter with its state in a delivery. If the delivery is not decided yet, the letter is
// underway.
func (r *SourceRoom) stateIn(ctx context.Context, l Letter, d *Delivery, failed *error) Letter {
	payload, created := l.Payload, l.CreatedAt
	i := slices.IndexFunc(d.Items, func(it Item) bool { return it.ID == l.ID })
	if i < 0 {
		l.State = Underway
		return l
	}
	became, err := r.Source.Became(ctx, d, i)
	if err != nil {
		*failed = err
		return l
	}
	became.ID, became.Kind, became.Payload, became.CreatedAt = l.ID, r.Source.Kind(), payload, created
	became.Subject, became.Key = l.Subject, l.Key
	return became
}

// cached returns a delivery, reading it only once.
func (r *SourceRoom) cached(ctx context.Context, id string, deliveries map[string]*Delivery) (*Delivery, error) {
	if d := deliveries[id]; d != nil {
		return d, nil
	}
	d, _, err := r.delivery(ctx, id, decided)
	if err != nil {
		return nil, err
	}
	deliveries[id] = &d
	return &d, nil
}

// Show implements Room.
func (r *SourceRoom) Show(ctx context.Context, id string) (Letter, error) {
	l, _, err := r.show(ctx, id)
	return l, err
}

func (r *SourceRoom) show(ctx context.Context, id string) (Letter, entry, error) {
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
	l, err = r.current(ctx, l, &e, map[string]*Delivery{})
	return l, e, err
}

// all returns the dead letters, oldest first.
func (r *SourceRoom) all(ctx context.Context) ([]Letter, error) {
	entries, err := r.entries(ctx)
	if err != nil {
		return nil, err
	}
	deliveries := map[string]*Delivery{}
	var dead []Letter
	seen := map[string]bool{}
	add := func(l Letter) error {
		e := entries[l.ID]
		seen[l.ID] = true
		l, err := r.current(ctx, l, &e, deliveries)
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

// List implements Room. All pages of a list show the letters as they were when the first page was read.
func (r *SourceRoom) List(ctx context.Context, q Query) (Page, error) {
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

// Groups implements Room.
func (r *SourceRoom) Groups(ctx context.Context, f Filter) ([]Group, error) {
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

// Acts implements Room.
func (r *SourceRoom) Acts(ctx context.Context, id string, limit int) ([]Act, error) {
	var all []Act
	if id != "" {
		_, e, err := r.show(ctx, id)
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
