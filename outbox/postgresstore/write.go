package postgresstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"stepback/outbox"
)

// Tx is a transaction of pgx: a pgx.Tx. A connection or a pool also implements it, to commit a single message at
// once.
type Tx interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// SQLTx is a transaction of database/sql: *sql.Tx, *sql.Conn or *sql.DB.
type SQLTx interface {
	ExecContext(ctx context.Context, sql string, args ...any) (sql.Result, error)
}

const (
	columns = "id, topic, key, payload, content_type, headers, traceparent, tracestate, next_attempt_at"

	insertOne = "INSERT INTO outbox_messages (" + columns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"

	insertMany = "INSERT INTO outbox_messages (" + columns +
		`) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[],
		$5::text[], $6::json[], $7::text[], $8::text[], $9::timestamptz[])`
)

// Write writes messages in a transaction. They are sent if the transaction commits, and do not exist if it does
// not. Messages with the same key are sent in the order in which they are written. If two concurrent transactions
// write to one key, the order is undefined unless the application makes one wait for the other. Write fills in the
// IDs of the messages in the slice. If a message is invalid, Write returns an [outbox.InvalidMessageError] and
// writes none. An ID that already exists causes the database's unique_violation.
func Write(ctx context.Context, tx Tx, messages ...outbox.Message) error {
	if err := prepare(messages); err != nil || len(messages) == 0 {
		return err
	}
	if len(messages) == 1 {
		row := values(&messages[0])
		_, err := tx.Exec(ctx, insertOne, row[:]...)
		return wrap(err)
	}
	_, err := tx.Exec(ctx, insertMany, arrays(messages)...)
	return wrap(err)
}

// WriteSQL works like Write for a transaction of database/sql, with any driver.
func WriteSQL(ctx context.Context, tx SQLTx, messages ...outbox.Message) error {
	if err := prepare(messages); err != nil {
		return err
	}
	const atOnce = 500 // a statement has at most 65,535 parameters
	for len(messages) > 0 {
		some := messages[:min(atOnce, len(messages))]
		messages = messages[len(some):]
		var statement strings.Builder
		statement.WriteString("INSERT INTO outbox_messages (" + columns + ") VALUES ")
		args := make([]any, 0, 9*len(some))
		for i := range some {
			if i > 0 {
				statement.WriteString(", ")
			}
			n := len(args)
			fmt.Fprintf(&statement, "($%d, $%d, $%d, $%d, $%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5, n+6, n+7,
				n+8, n+9)
			row := values(&some[i])
			args = append(args, row[:]...)
		}
		if _, err := tx.ExecContext(ctx, statement.String(), args...); err != nil {
			return wrap(err)
		}
	}
	return nil
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("write to the outbox: %w", err)
	}
	return nil
}

func prepare(messages []outbox.Message) error {
	for i := range messages {
		if err := messages[i].Prepare(); err != nil {
			return err
		}
	}
	return nil
}

// values returns the values of a message's columns.
func values(m *outbox.Message) [9]any {
	return [9]any{
		m.ID,
		m.Topic,
		orNull(m.Key),
		m.Payload,
		m.ContentType,
		headers(m),
		orNull(m.TraceParent),
		orNull(m.TraceState),
		at(m.NotBefore),
	}
}

// arrays returns, for each column, an array with the values of many messages.
func arrays(messages []outbox.Message) []any {
	n := len(messages)
	ids, topics, keys := make([][16]byte, n), make([]string, n), make([]*string, n)
	payloads, types := make([][]byte, n), make([]string, n)
	parents, states, times, all := make([]*string, n), make([]*string, n), make([]*time.Time, n), make([]*string, n)
	for i := range messages {
		m := &messages[i]
		ids[i] = uuid.MustParse(m.ID) // Prepare has parsed it
		topics[i], keys[i], payloads[i], types[i] = m.Topic, orNull(m.Key), m.Payload, m.ContentType
		all[i], parents[i], states[i] = headers(m), orNull(m.TraceParent), orNull(m.TraceState)
		times[i] = at(m.NotBefore)
	}
	return []any{ids, topics, keys, payloads, types, all, parents, states, times}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func headers(m *outbox.Message) *string {
	if len(m.Headers) == 0 {
		return nil
	}
	text, _ := json.Marshal(m.Headers) // encoding strings never fails
	s := string(text)
	return &s
}
