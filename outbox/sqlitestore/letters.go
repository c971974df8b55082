package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stepback/outbox"
	"stepback/outbox/deadletters"
)

const letterColumns = `SELECT seq, id, topic, coalesce(key, ''), status, next_attempt_at, retry_count, redrives, last_attempt_at,
	coalesce(error, ''), coalesce(last_error, ''), coalesce(dead_letter_reason, ''), created_at, dead_at, content_type,
	headers, coalesce(traceparent, ''), payload, edited_payload FROM outbox_messages `

// scanLetter reads a row of letterColumns.
func scanLetter(row interface{ Scan(into ...any) error }) (l deadletters.Letter, seq int64, err error) {
	var status outbox.Status
	var next, last, dead sql.NullInt64
	var created int64
	var headers sql.NullString
	err = row.Scan(&seq, &l.ID, &l.Subject, &l.Key, &status, &next, &l.Attempts, &l.Redrives, &last,
		&l.Error, &l.Cause, &l.Reason, &created, &dead, &l.ContentType, &headers, &l.Trace, &l.Payload, &l.Edited)
	if errors.Is(err, sql.ErrNoRows) {
		err = deadletters.ErrNotFound
	}
	l.State, l.CreatedAt = outbox.StateOf(status), time.UnixMicro(created)
	l.NextAttemptAt, l.LastAttemptAt, l.DeadAt = orZero(next), orZero(last), orZero(dead)
	if headers.Valid {
		_ = json.Unmarshal([]byte(headers.String),
			&l.Headers) // headers of another program that are not an object of strings are left out
	}
	l.Execution = l.Headers[outbox.HeaderExecution]
	return l, seq, err
}

func orZero(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64)
}

// conditions are the SQL conditions of a filter.
type conditions struct {
	text strings.Builder
	args []any
}

func (c *conditions) add(condition string, arg any) {
	c.args = append(c.args, arg)
	c.text.WriteString(" AND " + condition + " ?")
}

func filter(f *deadletters.Filter) *conditions {
	c := &conditions{}
	c.text.WriteString("INDEXED BY outbox_dead WHERE status = 'dead'")
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
		c.add("dead_at >=", f.Since.UnixMicro())
	}
	if !f.Until.IsZero() {
		c.add("dead_at <", f.Until.UnixMicro())
	}
	return c
}

// executionHeader returns an SQL expression for the execution in a message's header. The expression is the ARN if
// an ARN is asked for, and the name at the ARN's end otherwise.
func executionHeader(asked string) string {
	const arn = `json_extract(headers, '$."` + outbox.HeaderExecution + `"')`
	if strings.HasPrefix(asked, "arn:") {
		return arn
	}
	return "replace(" + arn + ", rtrim(" + arn + ", replace(" + arn + ", ':', '')), '')"
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
	rows, err := s.db.QueryContext(
		ctx,
		letterColumns+c.text.String()+" ORDER BY seq LIMIT ?",
		append(c.args, q.Limit)...)
	if err != nil {
		return page, failure(err)
	}
	defer rows.Close()
	var last int64
	for rows.Next() {
		l, seq, err := scanLetter(rows)
		if err != nil {
			return page, failure(err)
		}
		page.Letters, last = append(page.Letters, l), seq
	}
	if len(page.Letters) == q.Limit {
		page.Next = strconv.FormatInt(last, 10)
	}
	return page, failure(rows.Err())
}

// Groups implements deadletters.Store.
func (s *Store) Groups(ctx context.Context, f deadletters.Filter) ([]deadletters.Group, error) {
	c := filter(&f)
	//nolint:gosec // the conditions are constants, and what they compare with is bound
	rows, err := s.db.QueryContext(ctx, `SELECT coalesce(dead_letter_reason, ''), coalesce(error, ''), topic, count(*),
		min(dead_at), max(dead_at), min(id) FROM outbox_messages `+c.text.String()+
		` GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3`, c.args...)
	if err != nil {
		return nil, failure(err)
	}
	defer rows.Close()
	var all []deadletters.Group
	for rows.Next() {
		var g deadletters.Group
		var oldest, newest sql.NullInt64
		if err := rows.Scan(&g.Reason, &g.Error, &g.Subject, &g.Count, &oldest, &newest, &g.Sample); err != nil {
			return nil, failure(err)
		}
		g.Oldest, g.Newest = orZero(oldest), orZero(newest)
		all = append(all, g)
	}
	return all, failure(rows.Err())
}

// Show implements deadletters.Store.
func (s *Store) Show(ctx context.Context, id string) (deadletters.Letter, error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return deadletters.Letter{}, deadletters.ErrNotFound
	}
	l, _, err := scanLetter(s.db.QueryRowContext(ctx, letterColumns+"WHERE id = ?", key.String()))
	return l, failure(err)
}

// Edit implements deadletters.Store.
func (s *Store) Edit(ctx context.Context, id string, payload []byte, by deadletters.By) error {
	return s.act(ctx, id, deadletters.VerbEdit, by, func(l *deadletters.Letter) change {
		var edited any // NULL reverts the edit
		if string(payload) != string(l.Payload) {
			edited = append([]byte{}, payload...)
		}
		return change{deadletters.WithPayload(l.Sent()), deadletters.WithPayload(payload), "edited_payload = ?", []any{edited}}
	})
}

// Redrive implements deadletters.Store.
func (s *Store) Redrive(ctx context.Context, id string, by deadletters.By) error {
	return s.act(ctx, id, deadletters.VerbRedrive, by, func(l *deadletters.Letter) change {
		before, after := outbox.RedriveSnapshots(l)
		return change{before, after, `status = 'pending', parked = 0, next_attempt_at = NULL, retry_count = 0, lease_expiries = 0,
		redrives = redrives + 1, dead_at = NULL, dead_letter_reason = NULL`, nil}
	})
}

// Discard implements deadletters.Store.
func (s *Store) Discard(ctx context.Context, id string, by deadletters.By) error {
	return s.act(ctx, id, deadletters.VerbDiscard, by, func(l *deadletters.Letter) change {
		before, after := outbox.DiscardSnapshots(l)
		return change{before, after, "status = 'discarded', ended_at = ?", []any{s.micros()}}
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
	err = s.write(ctx, func() error {
		l, seq, err := scanLetter(s.conn.QueryRowContext(ctx, letterColumns+"WHERE id = ?", key.String()))
		if err != nil {
			return err
		}
		if l.State != deadletters.Dead {
			last, err := acts(ctx, s.conn, key.String(), 1)
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
		//nolint:gosec // the statement is one of three constants
		if _, err := s.conn.ExecContext(ctx, "UPDATE outbox_messages SET "+c.set+" WHERE seq = ?",
			append(c.args, seq)...); err != nil {
			return err
		}
		_, err = s.conn.ExecContext(ctx,
			"INSERT INTO outbox_acts (at, who, act, message_id, reason, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)",
			s.micros(), by.Who, string(verb), l.ID, by.Reason, string(c.before.JSON()), string(c.after.JSON()))
		return err
	})
	if err == nil {
		s.Wake()
	}
	return err
}

type querier interface {
	QueryContext(ctx context.Context, sql string, args ...any) (*sql.Rows, error)
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
	all, err := acts(ctx, s.db, id, limit)
	return all, failure(err)
}

func acts(ctx context.Context, q querier, id string, limit int) (all []deadletters.Act, err error) {
	of, args := "", []any{limit}
	if id != "" {
		of, args = "WHERE message_id = ? ", []any{id, limit}
	}
	rows, err := q.QueryContext(
		ctx,
		"SELECT at, who, act, message_id, reason, before, after FROM outbox_acts "+of+"ORDER BY seq DESC LIMIT ?",
		args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a deadletters.Act
		var at int64
		var before, after string
		if err := rows.Scan(&at, &a.Who, &a.Verb, &a.ID, &a.Reason, &before, &after); err != nil {
			return nil, err
		}
		a.At, a.Before, a.After = time.UnixMicro(at), json.RawMessage(before), json.RawMessage(after)
		all = append(all, a)
	}
	return all, rows.Err()
}
