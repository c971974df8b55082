package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"stepback/outbox"
)

// Tx is a transaction of database/sql: *sql.Tx. *sql.Conn and *sql.DB implement it too.
type Tx interface {
	ExecContext(ctx context.Context, sql string, args ...any) (sql.Result, error)
}

const (
	columns = "id, topic, key, payload, content_type, headers, traceparent, tracestate, next_attempt_at, created_at"
	row     = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	insert  = "INSERT INTO outbox_messages (" + columns + ") VALUES "
)

// Write writes messages in a transaction. They are sent if the transaction commits, and do not exist if it does
// not. Messages with the same key are sent in the order in which they are written. Write fills in the IDs of the
// messages in the slice. If a message is invalid, Write returns an [outbox.InvalidMessageError] and writes none. An
// ID that already exists violates the table's UNIQUE constraint.
func Write(ctx context.Context, tx Tx, messages ...outbox.Message) error {
	for i := range messages {
		if err := messages[i].Prepare(); err != nil {
			return err
		}
	}
	now := time.Now().UnixMicro()
	const atOnce = 100
	for len(messages) > 0 {
		some := messages[:min(atOnce, len(messages))]
		messages = messages[len(some):]
		args := make([]any, 0, 10*len(some))
		for i := range some {
			m := &some[i]
			args = append(args, m.ID, m.Topic, orNull(m.Key), m.Payload, m.ContentType, headers(m),
				orNull(m.TraceParent), orNull(m.TraceState), at(m.NotBefore), now)
		}
		if _, err := tx.ExecContext(ctx, insert+row+strings.Repeat(", "+row, len(some)-1), args...); err != nil {
			return fmt.Errorf("write to the outbox: %w", failure(err))
		}
	}
	return nil
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func headers(m *outbox.Message) any {
	if len(m.Headers) == 0 {
		return nil
	}
	text, _ := json.Marshal(m.Headers) // encoding strings never fails
	return string(text)
}
