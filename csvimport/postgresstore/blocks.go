package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport/ledger"
)

// A block is locked until the transaction ends: exclusively by a batch, and shared by single rows. The locks are
// advisory for two reasons: a block must be lockable before it has a row in the table, and rows that are applied
// one by one do not write to that row.
const (
	lockShared    = "SELECT pg_advisory_xact_lock_shared($1)"
	lockAll       = "SELECT pg_advisory_xact_lock(n) FROM unnest($1::bigint[]) AS n"
	lockAllShared = "SELECT pg_advisory_xact_lock_shared(n) FROM unnest($1::bigint[]) AS n"

	findBlock  = "SELECT data FROM import_blocks WHERE file_id = $1 AND block = $2"
	findBlocks = "SELECT block, data FROM import_blocks WHERE file_id = $1 AND block = ANY($2)"
	putBlocks  = `INSERT INTO import_blocks (file_id, block, data) SELECT $1, * FROM unnest($2::bigint[], $3::bytea[])
		ON CONFLICT (file_id, block) DO UPDATE SET data = excluded.data`
)

// lockOf returns the key of a block's lock. If two blocks have the same key, they wait for each other, without
// other harm.
func lockOf(file, block int64) int64 {
	const space = 0x62_6c_6f_63 << 32 // separates them from other advisory locks in this database
	return space ^ file<<28 ^ block
}

// entryAt reads one entry of a block, which may be missing.
func entryAt(row pgx.Row, place int) (ledger.Entry, error) {
	var data []byte
	if err := row.Scan(&data); errors.Is(err, pgx.ErrNoRows) {
		return ledger.Entry{}, nil
	} else if err != nil {
		return ledger.Entry{}, err
	}
	block, err := ledger.Decode(data)
	if err != nil {
		return ledger.Entry{}, err
	}
	return block[place], nil
}

// heldBlocks are the blocks that a transaction has locked.
type heldBlocks map[int64]*ledger.Block

func (h heldBlocks) at(row int64) ledger.Entry {
	block, place := ledger.BlockOf(row)
	return h[block][place]
}

// lockBlocks locks the blocks of rows, in an order that all transactions keep, and reads them. The additional queries
// are sent in the same round trip.
func lockBlocks(ctx context.Context, tx pgx.Tx, file int64, rows []int64, lock string,
	also ...func(heldBlocks, *pgx.Batch)) (heldBlocks, error) {
	h := heldBlocks{}
	var names, locks []int64
	for _, row := range rows {
		block, _ := ledger.BlockOf(row)
		if h[block] == nil {
			h[block] = new(ledger.Block)
			names, locks = append(names, block), append(locks, lockOf(file, block))
		}
	}
	slices.Sort(locks)
	var batch pgx.Batch
	batch.Queue(lock, locks)
	batch.Queue(findBlocks, file, names).Query(func(found pgx.Rows) error {
		var name int64
		var data []byte
		_, err := pgx.ForEachRow(found, []any{&name, &data}, func() (err error) {
			if h[name], err = ledger.Decode(data); err != nil {
				err = fmt.Errorf("import_blocks, file %d, block %d: %w", file, name, err)
			}
			return err
		})
		return err
	})
	for _, ask := range also {
		ask(h, &batch)
	}
	return h, tx.SendBatch(ctx, &batch).Close()
}
