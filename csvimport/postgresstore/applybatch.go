package postgresstore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
)

// addUsers adds sums to users in the given order. All transactions use the same order, so that two of them cannot
// deadlock. A counter that would overflow is left out.
const addUsers = `INSERT INTO users AS u (user_id, login_count, post_count, version)
	SELECT *, 1 FROM unnest($1::text[], $2::bigint[], $3::bigint[])
	ON CONFLICT (user_id) DO UPDATE SET login_count = u.login_count + excluded.login_count,
		post_count = u.post_count + excluded.post_count, version = u.version + 1
	WHERE u.login_count <= 9223372036854775807 - excluded.login_count
		AND u.post_count <= 9223372036854775807 - excluded.post_count`

const findSpan = `SELECT row_number, fingerprint, run_id FROM import_rows
	WHERE file_id = $1 AND row_number BETWEEN $2 AND $3`

// ApplyBatch implements csvimport.Store. Batches that one process applies at once share transactions; see combiner.
func (s *Store) ApplyBatch(ctx context.Context, run csvimport.Run, rows []csvimport.Row) ([]csvimport.Answer, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	return s.combiner.apply(ctx, run, rows)
}

// applyRows applies rows of one run in a transaction that answers either all rows or none. If a counter would
// overflow and whole is true, it returns errOverflow. If whole is false, it answers only the rows that do not fit
// with the overflow.
func (s *Store) applyRows(ctx context.Context, run csvimport.Run, rows []csvimport.Row, whole bool) ([]csvimport.Answer,
	error) {
	n, err := s.number(ctx, run)
	if err != nil {
		return nil, err
	}
	var b *bulk
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		b = &bulk{tx: tx, n: n, run: run, rows: rows, answers: make([]csvimport.Answer, len(rows)), whole: whole}
		return b.apply(ctx)
	})
	switch {
	case errors.Is(err, errOverflow):
		return nil, errOverflow
	case err != nil:
		return nil, failure("apply a batch", err)
	}
	return b.answers, nil
}

// errOverflow is returned if a sum would overflow a counter.
var errOverflow = errors.New("the sum of a transaction's rows is too large for a counter")

// bulk holds the rows of one transaction and their answers.
type bulk struct {
	tx      pgx.Tx
	n       numbers
	run     csvimport.Run
	rows    []csvimport.Row
	answers []csvimport.Answer
	whole   bool // all rows or none; see applyRows

	blocks  heldBlocks
	changed map[int64]bool
	fresh   []int // the open rows, by their index in rows
}

func (b *bulk) apply(ctx context.Context) error {
	if err := b.read(ctx); err != nil {
		return err
	}
	b.findFresh()
	write := b.addSums
	if !b.whole {
		write = b.addEach
	}
	if err := write(ctx); err != nil {
		return lostRace(err)
	}
	b.repeat()
	return nil
}

// read locks and reads the blocks, and reads the entries of those rows that have separate keys.
func (b *bulk) read(ctx context.Context) error {
	names := make([]int64, len(b.rows))
	for i := range b.rows {
		names[i] = b.rows[i].Number
	}
	var err error
	b.blocks, err = lockBlocks(ctx, b.tx, b.n.file, names, lockAll, func(h heldBlocks, batch *pgx.Batch) {
		batch.Queue(findSpan, b.n.file, slices.Min(names), slices.Max(names)).Query(func(found pgx.Rows) error {
			return visitRows(found, func(row int64, e ledger.Entry) {
				if block, place := ledger.BlockOf(row); h[block] != nil {
					h[block][place] = e
				}
			})
		})
	})
	return err
}

// findFresh finds the rows to count. A row that occurs twice is counted once.
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

// repeat sets the answers of the rows that are not fresh.
func (b *bulk) repeat() {
	for i := range b.rows {
		if b.answers[i] != (csvimport.Answer{}) {
			continue
		}
		r := &b.rows[i]
		if e := b.blocks.at(r.Number); e.Open() { // the same row would have overflowed
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

// addSums adds the sums of all users and writes the blocks, in one round trip. If it returns errOverflow, both are
// rolled back.
func (b *bulk) addSums(ctx context.Context) error {
	sums := make(map[string]csvimport.Increment, len(b.fresh))
	for _, i := range b.fresh {
		inc := b.rows[i].Increment
		sum := sums[inc.UserID]
		sum.LoginCount += inc.LoginCount
		sum.PostCount += inc.PostCount
		if sum.LoginCount < 0 || sum.PostCount < 0 {
			return errOverflow
		}
		sums[inc.UserID] = sum
		b.counted(i)
	}
	if len(sums) == 0 {
		return nil
	}
	users := slices.Sorted(maps.Keys(sums))
	logins, posts := make([]int64, len(users)), make([]int64, len(users))
	for i, user := range users {
		logins[i], posts[i] = sums[user].LoginCount, sums[user].PostCount
	}
	var batch pgx.Batch
	batch.Queue(addUsers, users, logins, posts).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() < int64(len(users)) {
			return errOverflow
		}
		return nil
	})
	names, data := b.changedBlocks()
	batch.Queue(putBlocks, b.n.file, names, data)
	return b.tx.SendBatch(ctx, &batch).Close()
}

// addEach handles a batch whose sums would overflow a counter. It adds the rows one by one, to find those that do
// not fit. Users are processed in their order, and each user's rows in the order of the batch.
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
	names, data := b.changedBlocks()
	_, err := b.tx.Exec(ctx, putBlocks, b.n.file, names, data)
	return err
}

// changedBlocks returns the blocks to write, and their stored forms.
func (b *bulk) changedBlocks() (names []int64, data [][]byte) {
	names = slices.Sorted(maps.Keys(b.changed))
	data = make([][]byte, len(names))
	for i, name := range names {
		data[i] = b.blocks[name].Append(nil)
	}
	return names, data
}
