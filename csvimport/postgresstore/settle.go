package postgresstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
)

// closeRows inserts keys for rows that have none. Rows are inserted in order, so that two settlements of the same
// rows cannot deadlock.
const closeRows = `INSERT INTO import_rows (file_id, row_number, fingerprint, run_id)
	SELECT $1, n, NULL, $3 FROM unnest($2::bigint[]) AS n ORDER BY n ON CONFLICT DO NOTHING`

const findRows = "SELECT row_number, fingerprint, run_id FROM import_rows WHERE file_id = $1 AND row_number = ANY($2)"

// Settle implements csvimport.Store. It waits for records that are being applied: a record's claim blocks the
// insert of its key, and a batch holds the locks of its blocks.
func (s *Store) Settle(ctx context.Context, run csvimport.Run, rows []int64) ([]csvimport.Outcome, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	n, err := s.number(ctx, run)
	if err != nil {
		return nil, err
	}
	outcomes := make([]csvimport.Outcome, len(rows))
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		known, err := settle(ctx, tx, n, rows)
		for i, row := range rows {
			outcomes[i] = known[row].Outcome(n.run)
		}
		return err
	})
	if err != nil {
		return nil, failure("settle rows", err)
	}
	return outcomes, nil
}

// settle closes the open rows and returns the decision on each row.
func settle(ctx context.Context, tx pgx.Tx, n numbers, rows []int64) (map[int64]ledger.Entry, error) {
	h, err := lockBlocks(ctx, tx, n.file, rows, lockAllShared)
	if err != nil {
		return nil, err
	}
	known, open := map[int64]ledger.Entry{}, []int64{}
	for _, row := range rows {
		if e := h.at(row); e.Open() {
			open = append(open, row)
		} else {
			known[row] = e
		}
	}
	if _, err := tx.Exec(ctx, closeRows, n.file, open, n.runID()); err != nil {
		return nil, err
	}
	return known, eachRow(ctx, tx, func(row int64, e ledger.Entry) { known[row] = e }, findRows, n.file, open)
}

// eachRow visits rows of import_rows.
func eachRow(ctx context.Context, tx pgx.Tx, visit func(int64, ledger.Entry), query string, args ...any) error {
	found, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	return visitRows(found, visit)
}

func visitRows(found pgx.Rows, visit func(int64, ledger.Entry)) error {
	var row int64
	var fingerprint, by *int64
	_, err := pgx.ForEachRow(found, []any{&row, &fingerprint, &by}, func() error {
		visit(row, entryOf(fingerprint, by))
		return nil
	})
	return err
}
