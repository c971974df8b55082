package sqlitestore

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
)

// blockKey identifies a block in the table import_blocks.
type blockKey struct{ file, block int64 }

// heldBlock is a block that the current transaction has read.
type heldBlock struct {
	*ledger.Block
	changed bool
}

// blocks holds the blocks that the current transaction has read and changed. Changed blocks are written before it
// commits. Nothing is cached between transactions, because another process may write in between.
type blocks struct {
	held map[blockKey]*heldBlock
	last blockKey // key of the block used last; most rows are in the same block as the previous one
	at   *heldBlock
	text []byte
}

func (b *blocks) forget() {
	clear(b.held)
	b.at = nil
}

// block returns the block of a row and the row's place in it.
func (w *writer) block(file, row int64) (*heldBlock, int, error) {
	number, place := ledger.BlockOf(row)
	key := blockKey{file, number}
	if w.blocks.at != nil && w.blocks.last == key {
		return w.blocks.at, place, nil
	}
	held := w.blocks.held[key]
	if held == nil {
		var column [1]driver.Value
		if _, err := w.find(column[:], w.stmts.findBlock, file, number); err != nil {
			return nil, 0, err
		}
		data, _ := column[0].([]byte)
		block, err := ledger.Decode(data)
		if err != nil {
			return nil, 0, fmt.Errorf("import_blocks, file %d, block %d: %w", file, number, err)
		}
		held = &heldBlock{Block: block}
		w.blocks.held[key] = held
	}
	w.blocks.last, w.blocks.at = key, held
	return held, place, nil
}

// decide sets the entry of the row in a place.
func (b *heldBlock) decide(place int, e ledger.Entry) { b.Block[place], b.changed = e, true }

// writeBlocks writes the changed blocks.
func (w *writer) writeBlocks() error {
	keys := slices.SortedFunc(maps.Keys(w.blocks.held), func(a, b blockKey) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.block, b.block))
	})
	for _, key := range keys {
		held := w.blocks.held[key]
		if !held.changed {
			continue
		}
		w.blocks.text = held.Append(w.blocks.text[:0])
		if _, err := w.change(w.stmts.putBlock, key.file, key.block, w.blocks.text); err != nil {
			return err
		}
	}
	return nil
}

// add adds an increment to its user, and reports whether it fits into the counter. The increments of a transaction
// are summed up by user. The sums are written at its end, in the order of the users, so that each page of the table
// is changed only once. If a sum overflows a counter, the transaction is repeated one row at a time, which is the
// only way to find out which row does not fit.
func (w *writer) add(inc csvimport.Increment) (bool, error) {
	if w.rowByRow {
		return w.increment(inc)
	}
	at, some := w.sumOf[inc.UserID]
	if !some {
		w.sumOf[inc.UserID] = len(w.sums)
		w.sums = append(w.sums, inc)
		return true, nil
	}
	sum := &w.sums[at]
	sum.LoginCount += inc.LoginCount
	sum.PostCount += inc.PostCount
	if sum.LoginCount < 0 || sum.PostCount < 0 {
		return false, errCounterFull
	}
	return true, nil
}

// writeSums writes the sums in the order of the users. Because it sorts them, indices into sums are invalid
// afterwards.
func (w *writer) writeSums() error {
	slices.SortFunc(w.sums, func(a, b csvimport.Increment) int { return cmp.Compare(a.UserID, b.UserID) })
	sums := w.sums
	for ; len(sums) >= manySums; sums = sums[manySums:] {
		counted, err := w.incrementAll(sums[:manySums])
		if err != nil {
			return err
		}
		if !counted {
			return errCounterFull
		}
	}
	for _, sum := range sums {
		counted, err := w.increment(sum)
		if err != nil {
			return err
		}
		if !counted {
			return errCounterFull
		}
	}
	return nil
}

// incrementAll adds manySums sums of different users, and reports whether all of them fit into the counters.
func (w *writer) incrementAll(sums []csvimport.Increment) (bool, error) {
	w.many = w.many[:0]
	for _, sum := range sums {
		w.many = append(w.many, sum.UserID, sum.LoginCount, sum.PostCount)
	}
	changed, err := w.change(w.stmts.incrementMany, w.many...)
	return changed == manySums, err
}

// increment adds an increment to a user, and reports whether it fits into the counter.
func (w *writer) increment(inc csvimport.Increment) (bool, error) {
	changed, err := w.change(w.stmts.increment, inc.UserID, inc.LoginCount, inc.PostCount)
	return changed > 0, err
}
