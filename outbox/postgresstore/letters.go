package postgresstore

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"stepback/outbox"
	"stepback/outbox/deadletters"
)

const letterColumns = `SELECT seq, id, topic, coalesce(key, ''), status, next_attempt_at, retry_count, redrives, last_attempt_at,
	coalesce(error, ''), coalesce(last_error, ''), coalesce(dead_letter_reason, ''), created_at, dead_at, content_type,
	headers, coalesce(traceparent, ''), payload, edited_payload FROM outbox_messages `

// scanLetter reads a row of letterColumns.
func scanLetter(row pgx.Row) (l deadletters.Letter, seq int64, err error) {
	var id [16]byte
	var status outbox.Status
	var next, last, dead *time.Time
	var headers []byte
	err = row.Scan(&seq, &id, &l.Subject, &l.Key, &status, &next, &l.Attempts, &l.Redrives, &last,
		&l.Error, &l.Cause, &l.Reason, &l.CreatedAt, &dead, &l.ContentType, &headers, &l.Trace, &l.Payload, &l.Edited)
	if errors.Is(err, pgx.ErrNoRows) {
		err = deadletters.ErrNotFound
	}
	l.ID, l.State = uuid.UUID(id).String(), outbox.StateOf(status)
	l.NextAttemptAt, l.LastAttemptAt, l.DeadAt = orZero(next), orZero(last), orZero(dead)
	if headers != nil {
		// another program may have written headers that are not an object of strings; they are left out
		_ = json.Unmarshal(headers, &l.Headers)
	}
	l.Execution = l.Headers[outbox.HeaderExecution]
	return l, seq, err
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// conditions are the SQL conditions of a filter.
type conditions struct {
	text strings.Builder
	args []any
}

func (c *conditions) add(condition string, arg any) {
	c.args = append(c.args, arg)
	c.text.WriteString(" AND " + condition + " $" + strconv.Itoa(len(c.args)))
}

func filter(f *deadletters.Filter) *conditions {
	c := &conditions{}
	c.text.WriteString("WHERE status = 'dead'")
	for _, e := range []struct{ condition, value string }{
		{"dead_letter_reason =", f.Reason}, {"error =", f.Error}, {"topic =", f.Subject}, {"key =", f.Key},
	} {
		if e.value != "" {
			c.add(e.condition, e.value)
		}
	}
	if f.Execution != "" {
		c.add(executionHeader(f.Execution)+" =", f.Execution)
	}
	if !f.Since.IsZero() {
		c.add("dead_at >=", f.Since)
	}
	if !f.Until.IsZero() {
		c.add("dead_at <", f.Until)
	}
	return c
}

// executionHeader returns an SQL expression for the execution in a message's header. The expression is the ARN if
// an ARN is asked for, and the name at the ARN's end otherwise.
func executionHeader(asked string) string {
	const arn = "(headers->>'" + outbox.HeaderExecution + "')"
	if strings.HasPrefix(asked, "arn:") {
		return arn
	}
	return "coalesce(nullif(split_part(" + arn + ", ':', 8), ''), " + arn + ")"
}

// List implements deadletters.Store.
func (s *Store) List(ctx context.Context, q deadletters.Query) (deadletters.Page, error) {
	var page deadletters.Page
	c := filter(&q.Filter)
	if q.After != "" {
		after, err := strconv.ParseInt(q.After, 10, 64)
		if err != nil {
			return page, &deadletters.BadActError{
				Why: "the page after " + strconv.Quote(q.After) + " is not valid: use the value that the previous page returned",
			}
		}
		c.add("seq >", after)
	}
	c.args = append(c.args, q.Limit)
	rows, err := s.pool.Query(
		ctx,
		letterColumns+c.text.String()+" ORDER BY seq LIMIT $"+strconv.Itoa(len(c.args)),
		c.args...)
	if err != nil {
		return page, err
	}
	defer rows.Close()
	var last int64
	for rows.Next() {
		l, seq, err := scanLetter(rows)
		if err != nil {
			return page, err
		}
		page.Letters, last = append(page.Letters, l), seq
	}
	if len(page.Letters) == q.Limit {
		page.Next = strconv.FormatInt(last, 10)
	}
	return page, rows.Err()
}

// Groups implements deadletters.Store.
func (s *Store) Groups(ctx context.Context, f deadletters.Filter) ([]deadletters.Group, error) {
	c := filter(&f)
	rows, _ := s.pool.Query(
		ctx,
		`SELECT coalesce(dead_letter_reason, '') AS reason, coalesce(error, '') AS name, topic, count(*),
		min(dead_at), max(dead_at), (min(id::text)) FROM outbox_messages `+c.text.String()+
			` GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3`,
		c.args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (g deadletters.Group, err error) {
		return g, row.Scan(&g.Reason, &g.Error, &g.Subject, &g.Count, &g.Oldest, &g.Newest, &g.Sample)
	})
}

// Show implements deadletters.Store.
func (s *Store) Show(ctx context.Context, id string) (deadletters.Letter, error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return deadletters.Letter{}, deadletters.ErrNotFound
	}
	l, _, err := scanLetter(s.pool.QueryRow(ctx, letterColumns+"WHERE id = $1", key.String()))
	return l, err
}

// Edit implements deadletters.Store.
func (s *Store) Edit(ctx context.Context, id string, payload []byte, by deadletters.By) error {
	return s.act(ctx, id, deadletters.VerbEdit, by, func(l *deadletters.Letter) change {
		var edited []byte // NULL reverts the edit
		if string(payload) != string(l.Payload) {
			edited = append([]byte{}, payload...)
		}
		return change{deadletters.WithPayload(l.Sent()), deadletters.WithPayload(payload), "edited_payload = $2", []any{edited}}
	})
}

// Redrive implements deadletters.Store.
func (s *Store) Redrive(ctx context.Context, id string, by deadletters.By) error {
	return s.act(ctx, id, deadletters.VerbRedrive, by, func(l *deadletters.Letter) change {
		before, after := outbox.RedriveSnapshots(l)
		return change{before, after, `status = 'pending', parked = false, next_attempt_at = NULL, retry_count = 0, lease_expiries = 0,
		redrives = redrives + 1, dead_at = NULL, dead_letter_reason = NULL`, nil}
	})
}

// Discard implements deadletters.Store.
func (s *Store) Discard(ctx context.Context, id string, by deadletters.By) error {
	return s.act(ctx, id, deadletters.VerbDiscard, by, func(l *deadletters.Letter) change {
		before, after := outbox.DiscardSnapshots(l)
		return change{before, after, "status = 'discarded', ended_at = clock_timestamp()", nil}
	})
}

// change describes the effect of an act on a dead letter: the snapshots for the record of the act, and the update of
// the message's row.
type change struct {
	before, after deadletters.Snapshot
	set           string
	args          []any
}

// act changes a dead letter and records it.
func (s *Store) act(ctx context.Context, id string, verb deadletters.Verb, by deadletters.By,
	changeOf func(*deadletters.Letter) change,
) error {
	key, err := uuid.Parse(id)
	if err != nil {
		return deadletters.ErrNotFound
	}
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		l, seq, err := scanLetter(tx.QueryRow(ctx, letterColumns+"WHERE id = $1 FOR UPDATE", key.String()))
		if err != nil {
			return err
		}
		if l.State != deadletters.Dead {
			last, err := acts(ctx, tx, key.String(), 1)
			if err != nil {
				return err
			}
			not := &deadletters.NotDeadError{ID: l.ID, State: l.State}
			if len(last) > 0 {
				not.Last = &last[0]
			}
			return not
		}
		c := changeOf(&l)
		var b pgx.Batch
		b.Queue("UPDATE outbox_messages SET "+c.set+" WHERE seq = $1", append([]any{seq}, c.args...)...)
		b.Queue("INSERT INTO outbox_acts (who, act, message_id, reason, before, after) VALUES ($1, $2, $3, $4, $5, $6)",
			by.Who, string(verb), l.ID, by.Reason, string(c.before.JSON()), string(c.after.JSON()))
		b.Queue("SELECT pg_notify($1, '')", channel)
		return tx.SendBatch(ctx, &b).Close()
	})
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Acts implements deadletters.Store.
func (s *Store) Acts(ctx context.Context, id string, limit int) ([]deadletters.Act, error) {
	if id != "" {
		key, err := uuid.Parse(id)
		if err != nil {
			return nil, deadletters.ErrNotFound
		}
		id = key.String()
	}
	return acts(ctx, s.pool, id, limit)
}

func acts(ctx context.Context, q querier, id string, limit int) ([]deadletters.Act, error) {
	of, args := "", []any{limit}
	if id != "" {
		of, args = "WHERE message_id = $2 ", append(args, id)
	}
	rows, err := q.Query(
		ctx,
		"SELECT at, who, act, message_id::text, reason, before, after FROM outbox_acts "+of+
			"ORDER BY seq DESC LIMIT $1",
		args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (a deadletters.Act, err error) {
		var before, after string
		err = row.Scan(&a.At, &a.Who, &a.Verb, &a.ID, &a.Reason, &before, &after)
		a.Before, a.After = json.RawMessage(before), json.RawMessage(after)
		return a, err
	})
}
