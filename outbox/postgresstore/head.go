package postgresstore

import (
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// head remembers the position, in the index of due messages, of the first message that a claim found. Every claim
// leaves dead entries at the front of the index until the table is vacuumed, and a large table is seldom vacuumed.
// A search that starts at the front reads all of them, each time. But messages can become due before the remembered
// position, because of a time in the past or a claim that was rolled back. So the search starts at the front again
// after a second, and whenever it finds nothing.
type head struct {
	mu    sync.Mutex
	at    time.Time // zero means the front
	front time.Time // when a search last started at the front
}

// anew is the time for which searches start at the remembered position before one starts at the front again.
const anew = time.Second

// from returns the position at which a search starts.
func (h *head) from(now time.Time) pgtype.Timestamptz {
	h.mu.Lock()
	defer h.mu.Unlock()
	if since := now.Sub(h.front); h.at.IsZero() || since >= anew || since < 0 {
		h.at, h.front = time.Time{}, now
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: h.at, Valid: true}
}

// found records when the first message found by a search was due; nil if it found none.
func (h *head) found(first *time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = time.Time{}
	if first != nil {
		h.at = *first
	}
}
