package sqlitestore

import (
	"context"
	"database/sql"

	"stepback/csvimport/ledger"
)

// foldRows converts the per-row keys of schema version 2 to blocks, and drops their table.
func foldRows(ctx context.Context, conn *sql.Conn) (err error) {
	put, err := conn.PrepareContext(ctx, "INSERT INTO import_blocks (file_id, block, data) VALUES (?, ?, ?)") //nolint:sqlclosecheck // it is closed below
	if err != nil {
		return err
	}
	defer put.Close()
	if err := eachOldBlock(ctx, conn, func(key blockKey, b *ledger.Block) error {
		_, err := put.ExecContext(ctx, key.file, key.block, b.Append(nil))
		return err
	}); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "DROP TABLE import_rows")
	return err
}

// eachOldBlock reads the rows in order and calls visit with each complete block.
func eachOldBlock(ctx context.Context, conn *sql.Conn, visit func(blockKey, *ledger.Block) error) error {
	rows, err := conn.QueryContext(ctx, "SELECT file_id, row, fingerprint, run_id FROM import_rows ORDER BY file_id, row")
	if err != nil {
		return err
	}
	defer rows.Close()
	var at blockKey
	var block *ledger.Block
	for rows.Next() {
		var file, row int64
		var fingerprint, run sql.NullInt64
		if err := rows.Scan(&file, &row, &fingerprint, &run); err != nil {
			return err
		}
		number, place := ledger.BlockOf(row)
		if key := (blockKey{file, number}); block == nil || key != at {
			if block != nil {
				if err := visit(at, block); err != nil {
					return err
				}
			}
			at, block = key, new(ledger.Block)
		}
		block[place] = ledger.Closed()
		if fingerprint.Valid {
			block[place] = ledger.Counted(run.Int64, fingerprint.Int64)
		}
	}
	if err := rows.Err(); err != nil || block == nil {
		return err
	}
	return visit(at, block)
}
