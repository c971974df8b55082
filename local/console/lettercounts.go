package console

import (
	"context"
	"errors"
	"sync"
	"time"

	"stepback/outbox/deadletters"
)

// LetterCount is the number of dead letters in a room.
type LetterCount struct {
	Room   string           `json:"room"`
	Kind   deadletters.Kind `json:"kind,omitempty"`
	Count  int64            `json:"count"`
	Oldest time.Time        `json:"oldest,omitzero"`
	Error  string           `json:"error,omitempty"` // why the room cannot be read
	// Many is true if counting takes too long: Count is then the last known number, or -1 if there is none.
	Many bool `json:"many,omitempty"`
}

// roomCounts caches the number of letters for a hundred times as long as counting them took.
type roomCounts struct {
	mu   sync.Mutex
	kept map[string]roomCount
}

type roomCount struct {
	LetterCount
	until time.Time
}

func (r *roomCounts) get(name string) (LetterCount, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.kept[name]
	return n.LetterCount, ok && time.Now().Before(n.until)
}

func (r *roomCounts) put(n LetterCount, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = map[string]roomCount{}
	}
	r.kept[n.Room] = roomCount{n, time.Now().Add(max(time.Second, worthTimes*took))}
}

func (r *roomCounts) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = nil
}

// letterCounts counts the dead letters of all rooms. A room that takes longer than most is not counted.
func (c *Console) letterCounts(ctx context.Context, most time.Duration) []LetterCount {
	rooms, err := c.roomsNow(ctx)
	if err != nil {
		return []LetterCount{{Room: "all", Error: err.Error()}}
	}
	all := make([]LetterCount, len(rooms))
	var counting sync.WaitGroup
	for i := range rooms {
		var ok bool
		if all[i], ok = c.rooms.get(rooms[i].Name); ok {
			continue
		}
		counting.Go(func() {
			began, known := time.Now(), all[i]
			all[i] = rooms[i].count(ctx, most)
			switch {
			case all[i].Many && known.Room != "":
				all[i].Count, all[i].Oldest = known.Count, known.Oldest
			case all[i].Many:
				all[i].Count = -1
			case ctx.Err() == nil:
				c.rooms.put(all[i], time.Since(began))
			}
		})
	}
	counting.Wait()
	return all
}

func (r *Room) count(ctx context.Context, most time.Duration) LetterCount {
	n := LetterCount{Room: r.Name, Kind: r.Kind}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var err error
	if r.Depth != nil {
		n.Count, err = r.Depth(ctx)
	} else {
		var groups []deadletters.Group
		groups, err = r.Room.Groups(ctx, deadletters.Filter{})
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
