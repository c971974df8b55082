package postgresstore

import (
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// head remembers where in the index of due messages a claim found the first one. Every claim leaves dead entries
// behind there until the table is vacuumed, and a large table is vacuumed seldom: a search that begins at the front
// reads all of them, each time. Messages can come to be due before the place, by a time in the past or a claim that
// was rolled back; so the search begins at the front again after a second, and when nothing is found.
type head struct {
	mu    sync.Mutex
	at    time.Time // zero for the front
	front time.Time // when a search last began at the front
}

// anew is after how long a search begins at the front again.
const anew = time.Second

// from is where a search begins now.
func (h *head) from(now time.Time) pgtype.Timestamptz {
	h.mu.Lock()
	defer h.mu.Unlock()
	if since := now.Sub(h.front); h.at.IsZero() || since >= anew || since < 0 {
		h.at, h.front = time.Time{}, now
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: h.at, Valid: true}
}

// found tells when the first message that a search found was due; nil if it found none.
func (h *head) found(first *time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = time.Time{}
	if first != nil {
		h.at = *first
	}
}
