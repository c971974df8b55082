package deadletters

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Part is a Room within Rooms.
type Part struct {
	Kind Kind
	Room Room
	Owns func(id string) bool // reports whether an ID has the form of this room's IDs
}

// Rooms combines several rooms into one with letters of all kinds. An ID belongs to the first part that owns it.
type Rooms []Part

// List implements Room. The letters of the first part come first.
func (r Rooms) List(ctx context.Context, q Query) (Page, error) {
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
		page, err := r[i].Room.List(ctx, Query{Filter: q.Filter, After: after, Limit: q.Limit - len(all.Letters)})
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

// Groups implements Room. The largest group comes first.
func (r Rooms) Groups(ctx context.Context, f Filter) ([]Group, error) {
	var all []Group
	kind := f.Kind
	f.Kind = "" // a part has only one kind
	for _, p := range r {
		if kind != "" && kind != p.Kind {
			continue
		}
		groups, err := p.Room.Groups(ctx, f)
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
func (r Rooms) of(id string) (Part, error) {
	for _, p := range r {
		if p.Owns(id) {
			return p, nil
		}
	}
	return Part{}, ErrNotFound
}

// Show implements Room.
func (r Rooms) Show(ctx context.Context, id string) (Letter, error) {
	p, err := r.of(id)
	if err != nil {
		return Letter{}, err
	}
	l, err := p.Room.Show(ctx, id)
	l.Kind = p.Kind
	return l, err
}

// Edit implements Room.
func (r Rooms) Edit(ctx context.Context, id string, payload []byte, by By) error {
	p, err := r.of(id)
	if err != nil {
		return err
	}
	return p.Room.Edit(ctx, id, payload, by)
}

// Redrive implements Room.
func (r Rooms) Redrive(ctx context.Context, id string, by By) error {
	p, err := r.of(id)
	if err != nil {
		return err
	}
	return p.Room.Redrive(ctx, id, by)
}

// RedriveAll implements Batcher.
func (r Rooms) RedriveAll(ctx context.Context, ids []string, by By) []error {
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
		for j, err := range redriveAll(ctx, p.Room, own, by) {
			errs[of[n][j]] = err
		}
	}
	return errs
}

// Discard implements Room.
func (r Rooms) Discard(ctx context.Context, id string, by By) error {
	p, err := r.of(id)
	if err != nil {
		return err
	}
	return p.Room.Discard(ctx, id, by)
}

// Acts implements Room.
func (r Rooms) Acts(ctx context.Context, id string, limit int) ([]Act, error) {
	if id != "" {
		p, err := r.of(id)
		if err != nil {
			return nil, err
		}
		return p.Room.Acts(ctx, id, limit)
	}
	var all []Act
	for _, p := range r {
		acts, err := p.Room.Acts(ctx, "", limit)
		if err != nil {
			return nil, fmt.Errorf("letters of the kind %s: %w", p.Kind, err)
		}
		all = append(all, acts...)
	}
	slices.SortStableFunc(all, func(a, b Act) int { return b.At.Compare(a.At) })
	return all[:min(limit, len(all))], nil
}
