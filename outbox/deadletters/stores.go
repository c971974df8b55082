package deadletters

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Part is a Store within Stores.
type Part struct {
	Kind  Kind
	Store Store
	Owns  func(id string) bool // reports whether an ID has the form of this store's IDs
}

// Stores combines several stores into one with letters of all kinds. An ID belongs to the first part that owns it.
type Stores []Part

// List implements Store. The letters of the first part come first.
func (r Stores) List(ctx context.Context, q Query) (Page, error) {
	first, after := 0, ""
	if q.After != "" {
		number, rest, _ := strings.Cut(q.After, " ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= len(r) {
			return Page{}, badPage(q.After)
		}
		first, after = n, rest
	}
	var all Page
	kind := q.Kind
	q.Kind = "" // a part has only one kind
	for i := first; i < len(r); i++ {
		if kind != "" && kind != r[i].Kind {
			after = ""
			continue
		}
		page, err := r[i].Store.List(ctx, Query{Filter: q.Filter, After: after, Limit: q.Limit - len(all.Letters)})
		if err != nil {
			return all, fmt.Errorf("letters of the kind %s: %w", r[i].Kind, err)
		}
		for j := range page.Letters {
			page.Letters[j].Kind = r[i].Kind
		}
		all.Letters = append(all.Letters, page.Letters...)
		after = page.Next
		if after == "" && i+1 < len(r) && len(all.Letters) >= q.Limit {
			all.Next = strconv.Itoa(i+1) + " "
			return all, nil
		}
		if after != "" {
			all.Next = strconv.Itoa(i) + " " + after
			return all, nil
		}
	}
	return all, nil
}

func badPage(after string) error {
	return &BadActError{"the page after " + strconv.Quote(after) +
		" is not valid: use the value that the previous page returned"}
}

// Groups implements Store. The largest group comes first.
func (r Stores) Groups(ctx context.Context, f Filter) ([]Group, error) {
	var all []Group
	kind := f.Kind
	f.Kind = "" // a part has only one kind
	for _, p := range r {
		if kind != "" && kind != p.Kind {
			continue
		}
		groups, err := p.Store.Groups(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("letters of the kind %s: %w", p.Kind, err)
		}
		for i := range groups {
			groups[i].Kind = p.Kind
		}
		all = append(all, groups...)
	}
	slices.SortStableFunc(all, func(a, b Group) int { return cmp.Compare(b.Count, a.Count) })
	return all, nil
}

// of returns the part that owns a letter.
func (r Stores) of(id string) (Part, error) {
	for _, p := range r {
		if p.Owns(id) {
			return p, nil
		}
	}
	return Part{}, ErrNotFound
}

// Show implements Store.
func (r Stores) Show(ctx context.Context, id string) (Letter, error) {
	p, err := r.of(id)
	if err != nil {
		return Letter{}, err
	}
	l, err := p.Store.Show(ctx, id)
	l.Kind = p.Kind
	return l, err
}

// Edit implements Store.
func (r Stores) Edit(ctx context.Context, id string, payload []byte, by By) error {
	p, err := r.of(id)
	if err != nil {
		return err
	}
	return p.Store.Edit(ctx, id, payload, by)
}

// Redrive implements Store.
func (r Stores) Redrive(ctx context.Context, id string, by By) error {
	p, err := r.of(id)
	if err != nil {
		return err
	}
	return p.Store.Redrive(ctx, id, by)
}

// RedriveAll implements Batcher.
func (r Stores) RedriveAll(ctx context.Context, ids []string, by By) []error {
	errs := make([]error, len(ids))
	of := map[int][]int{} // the letters of each part, as indices into ids
	for i, id := range ids {
		n := slices.IndexFunc(r, func(p Part) bool { return p.Owns(id) })
		if n < 0 {
			errs[i] = ErrNotFound
			continue
		}
		of[n] = append(of[n], i)
	}
	for n, p := range r {
		own := make([]string, len(of[n]))
		for j, i := range of[n] {
			own[j] = ids[i]
		}
		for j, err := range redriveAll(ctx, p.Store, own, by) {
			errs[of[n][j]] = err
		}
	}
	return errs
}

// Discard implements Store.
func (r Stores) Discard(ctx context.Context, id string, by By) error {
	p, err := r.of(id)
	if err != nil {
		return err
	}
	return p.Store.Discard(ctx, id, by)
}

// Acts implements Store.
func (r Stores) Acts(ctx context.Context, id string, limit int) ([]Act, error) {
	if id != "" {
		p, err := r.of(id)
		if err != nil {
			return nil, err
		}
		return p.Store.Acts(ctx, id, limit)
	}
	var all []Act
	for _, p := range r {
		acts, err := p.Store.Acts(ctx, "", limit)
		if err != nil {
			return nil, fmt.Errorf("letters of the kind %s: %w", p.Kind, err)
		}
		all = append(all, acts...)
	}
	slices.SortStableFunc(all, func(a, b Act) int { return b.At.Compare(a.At) })
	return all[:min(limit, len(all))], nil
}
