package database

import (
	"context"

	"stepback/csvimport"
	"stepback/outbox"
)

// Conclude implements csvimport.Concluder if the store does; otherwise it does nothing.
func (l *Lazy) Conclude(ctx context.Context, run csvimport.Run, c csvimport.Conclusion, messages []outbox.Message) error {
	s, err := l.store(ctx)
	if err != nil {
		return err
	}
	return csvimport.Conclude(ctx, s, run, c, messages)
}
