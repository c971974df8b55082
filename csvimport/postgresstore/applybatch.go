package postgresstore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
)

// addUsers adds sums to users in the order given, which all transactions keep, so that two of them cannot deadlock. A
// counter without room for its sum is left out.
const addUsers = `INSERT INTO users AS u (user_id, login_count, post_count, version)
	SELECT *, 1 FROM unnest($1::text[], $2::bigint[], $3::bigint[])
	ON CONFLICT (user_id) DO UPDATE SET login_count = u.login_count + excluded.login_count,
		post_count = u.post_count + excluded.post_count, version = u.version + 1
	WHERE u.login_count <= 9223372036854775807 - excluded.login_count
		AND u.post_count <= 9223372036854775807 - excluded.post_count`

const findSpan = `SELECT row_number, fingerprint, run_id FROM import_rows
	WHERE file_id = $1 AND row_number BETWEEN $2 AND $3`

// ApplyBatch implements csvimport.Store: three round trips for a batch.
func (s *Store) ApplyBatch(ctx context.Context, run csvimport.Run, rows []csvimport.Row) ([]csvimport.Answer, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	n, err := s.number(ctx, run)
	if err != nil {
		return nil, err
	}
	var b *bulk
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		b = &bulk{tx: tx, n: n, run: run, rows: rows, answers: make([]csvimport.Answer, len(rows))}
		return b.apply(ctx)
	})
	if err != nil {
		return nil, failure("apply a batch", err)
	}
	return b.answers, nil
}

// bulk is one batch in its transaction.
type bulk struct {
	tx      pgx.Tx
	n       numbers
	run     csvimport.Run
	rows    []csvimport.Row
	answers []csvimport.Answer

	blocks  heldBlocks
	changed map[int64]bool
	fresh   []int // the rows that are open, by their place in rows
}

func (b *bulk) apply(ctx context.Context) error {
	if err := b.read(ctx); err != nil {
		return err
	}
	b.findFresh()
	added, err := b.addSums(ctx)
	if err != nil {
		return lostRace(err)
	}
	if !added {
		if err := b.addEach(ctx); err != nil {
			return lostRace(err)
		}
	}
	b.repeat()
	return b.writeBlocks(ctx)
}

// read locks the blocks and reads them with the rows in them that have keys of their own.
func (b *bulk) read(ctx context.Context) error {
	names := make([]int64, len(b.rows))
	for i := range b.rows {
		names[i] = b.rows[i].Number
	}
	var err error
	if b.blocks, err = lockBlocks(ctx, b.tx, b.n.file, names, lockAll); err != nil {
		return err
	}
	return eachRow(ctx, b.tx, func(row int64, e ledger.Entry) {
		if block, place := ledger.BlockOf(row); b.blocks[block] != nil {
			b.blocks[block][place] = e
		}
	}, findSpan, b.n.file, slices.Min(names), slices.Max(names))
}

// findFresh finds the rows that are to be counted. One that comes twice is to be counted once.
func (b *bulk) findFresh() {
	b.changed = map[int64]bool{}
	seen := make(map[int64]bool, len(b.rows))
	for i := range b.rows {
		if row := b.rows[i].Number; !seen[row] && b.blocks.at(row).Open() {
			b.fresh = append(b.fresh, i)
			seen[row] = true
		}
	}
}

// repeat answers the rows that are not fresh.
func (b *bulk) repeat() {
	for i := range b.rows {
		if b.answers[i] != (csvimport.Answer{}) {
			continue
		}
		r := &b.rows[i]
		if e := b.blocks.at(r.Number); e.Open() { // the same row had no room
			b.answers[i].Err = csvimport.CounterOverflow(r.Increment)
		} else {
			b.answers[i] = e.Repeat(b.n.run, b.run.File, r.Number, r.Increment.Fingerprint())
		}
	}
}

func (b *bulk) counted(i int) {
	block, place := ledger.BlockOf(b.rows[i].Number)
	b.blocks[block][place] = ledger.Counted(b.n.run, b.rows[i].Increment.Fingerprint())
	b.changed[block] = true
	b.answers[i] = csvimport.Answer{Outcome: csvimport.Applied}
}

// addSums adds the sums of all users, or nothing: it tells whether every counter had room.
func (b *bulk) addSums(ctx context.Context) (bool, error) {
	sums := make(map[string]csvimport.Increment, len(b.fresh))
	for _, i := range b.fresh {
		inc := b.rows[i].Increment
		sum := sums[inc.UserID]
		sum.LoginCount += inc.LoginCount
		sum.PostCount += inc.PostCount
		if sum.LoginCount < 0 || sum.PostCount < 0 {
			return false, nil
		}
		sums[inc.UserID] = sum
	}
	if len(sums) > 0 {
		if all, err := b.add(ctx, sums); !all || err != nil {
			return false, err
		}
	}
	for _, i := range b.fresh {
		b.counted(i)
	}
	return true, nil
}

// add adds sums within a savepoint, which takes them back if one of them had no room.
func (b *bulk) add(ctx context.Context, sums map[string]csvimport.Increment) (bool, error) {
	users := slices.Sorted(maps.Keys(sums))
	logins, posts := make([]int64, len(users)), make([]int64, len(users))
	for i, user := range users {
		logins[i], posts[i] = sums[user].LoginCount, sums[user].PostCount
	}
	var batch pgx.Batch
	batch.Queue("SAVEPOINT sums")
	batch.Queue(addUsers, users, logins, posts)
	results := b.tx.SendBatch(ctx, &batch)
	_, err := results.Exec()
	var tag pgconn.CommandTag
	if err == nil {
		tag, err = results.Exec()
	}
	if closing := results.Close(); err == nil {
		err = closing
	}
	if err != nil || tag.RowsAffected() == int64(len(users)) {
		return true, err
	}
	_, err = b.tx.Exec(ctx, "ROLLBACK TO SAVEPOINT sums")
	return false, err
}

// addEach is for a batch in which a counter has no room: it adds each row by itself and so finds those that have none.
// Users come in their order and each user's rows in theirs.
func (b *bulk) addEach(ctx context.Context) error {
	slices.SortStableFunc(b.fresh, func(i, j int) int {
		return cmp.Compare(b.rows[i].Increment.UserID, b.rows[j].Increment.UserID)
	})
	for _, i := range b.fresh {
		inc := b.rows[i].Increment
		tag, err := b.tx.Exec(ctx, addUsers, []string{inc.UserID}, []int64{inc.LoginCount}, []int64{inc.PostCount})
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			b.answers[i].Err = csvimport.CounterOverflow(inc)
		} else {
			b.counted(i)
		}
	}
	return nil
}

// writeBlocks writes what has changed.
func (b *bulk) writeBlocks(ctx context.Context) error {
	if len(b.changed) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(b.changed))
	data := make([][]byte, len(names))
	for i, name := range names {
		data[i] = b.blocks[name].Append(nil)
	}
	_, err := b.tx.Exec(ctx, putBlocks, b.n.file, names, data)
	return err
}
