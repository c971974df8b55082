package postgresstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
)

// closeRows claims what is not there yet. Rows are inserted in their order, so that two settlements of the same rows
// cannot deadlock.
const closeRows = `INSERT INTO import_rows (file_id, row_number, fingerprint, run_id)
	SELECT $1, n, NULL, $3 FROM unnest($2::bigint[]) AS n ORDER BY n ON CONFLICT DO NOTHING`

const findApplied = "SELECT row_number, run_id FROM import_rows WHERE file_id = $1 AND row_number = ANY($2) AND fingerprint IS NOT NULL"

// Settle implements csvimport.Store. A record that is being applied at this moment is waited for: the insert of its key
// is blocked by the other's claim.
func (s *Store) Settle(ctx context.Context, run csvimport.Run, rows []int64) ([]csvimport.Outcome, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	n, err := s.number(ctx, run)
	if err != nil {
		return nil, err
	}
	counted := map[int64]csvimport.Outcome{}
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, closeRows, n.file, rows, n.run); err != nil {
			return err
		}
		found, err := tx.Query(ctx, findApplied, n.file, rows)
		if err != nil {
			return err
		}
		var row int64
		var by *int64
		_, err = pgx.ForEachRow(found, []any{&row, &by}, func() error {
			counted[row] = n.counted(by)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, failure("settle rows", err)
	}
	outcomes := make([]csvimport.Outcome, len(rows))
	for i, row := range rows {
		outcomes[i] = csvimport.DeadLettered
		if outcome, ok := counted[row]; ok {
			outcomes[i] = outcome
		}
	}
	return outcomes, nil
}
