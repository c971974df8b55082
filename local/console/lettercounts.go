package console

import (
	"context"
	"errors"
	"sync"
	"time"

	"stepback/outbox/deadletters"
)

// LetterCount is the number of dead letters in a store.
type LetterCount struct {
	Store  string           `json:"store"`
	Kind   deadletters.Kind `json:"kind,omitempty"`
	Count  int64            `json:"count"`
	Oldest time.Time        `json:"oldest,omitzero"`
	Error  string           `json:"error,omitempty"` // why the store cannot be read
	// Many is true if counting takes too long: Count is then the last known number, or -1 if there is none.
	Many bool `json:"many,omitempty"`
}

// storeCounts caches the number of letters for a hundred times as long as counting them took.
type storeCounts struct {
	mu   sync.Mutex
	kept map[string]storeCount
}

type storeCount struct {
	LetterCount
	until time.Time
}

func (r *storeCounts) get(name string) (LetterCount, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.kept[name]
	return n.LetterCount, ok && time.Now().Before(n.until)
}

func (r *storeCounts) put(n LetterCount, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = map[string]storeCount{}
	}
	r.kept[n.Store] = storeCount{n, time.Now().Add(max(time.Second, worthTimes*took))}
}

func (r *storeCounts) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = nil
}

// letterCounts counts the dead letters of all stores. A store that takes longer than most is not counted.
func (c *Console) letterCounts(ctx context.Context, most time.Duration) []LetterCount {
	stores, err := c.storesNow(ctx)
	if err != nil {
		return []LetterCount{{Store: "all", Error: err.Error()}}
	}
	all := make([]LetterCount, len(stores))
	var counting sync.WaitGroup
	for i := range stores {
		var ok bool
		if all[i], ok = c.stores.get(stores[i].Name); ok {
			continue
		}
		counting.Go(func() {
			began, known := time.Now(), all[i]
			all[i] = stores[i].count(ctx, most)
			switch {
			case all[i].Many && known.Store != "":
				all[i].Count, all[i].Oldest = known.Count, known.Oldest
			case all[i].Many:
				all[i].Count = -1
			case ctx.Err() == nil:
				c.stores.put(all[i], time.Since(began))
			}
		})
	}
	counting.Wait()
	return all
}

func (r *LetterStore) count(ctx context.Context, most time.Duration) LetterCount {
	n := LetterCount{Store: r.Name, Kind: r.Kind}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var err error
	if r.Depth != nil {
		n.Count, err = r.Depth(ctx)
	} else {
		var groups []deadletters.Group
		groups, err = r.Store.Groups(ctx, deadletters.Filter{})
		for _, g := range groups {
			n.Count += g.Count
			if n.Oldest.IsZero() || g.Oldest.Before(n.Oldest) {
				n.Oldest = g.Oldest
			}
		}
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		n.Many = true
	case err != nil:
		n.Error = err.Error()
	}
	return n
}
