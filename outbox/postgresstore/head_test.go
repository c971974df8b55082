package postgresstore

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

func TestHead(t *testing.T) {
	t.Parallel()
	front := pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	due := now.Add(-time.Minute)
	var h head
	for i, step := range []struct {
		after time.Duration
		found *time.Time
		want  pgtype.Timestamptz
	}{
		{0, &due, front},
		{999 * time.Millisecond, &due, pgtype.Timestamptz{Time: due, Valid: true}},
		{time.Millisecond, &due, front}, // after a second
		{time.Millisecond, nil, pgtype.Timestamptz{Time: due, Valid: true}},
		{time.Millisecond, &due, front}, // nothing was found
		{-2 * time.Second, &due, front}, // the clock was set back
		{time.Millisecond, &due, pgtype.Timestamptz{Time: due, Valid: true}},
	} {
		now = now.Add(step.after)
		if got := h.from(now); got != step.want {
			t.Errorf("step %d: searches from %v, want %v", i, got, step.want)
		}
		h.found(step.found)
	}
}
