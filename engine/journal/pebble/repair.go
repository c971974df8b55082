package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/journal"
	"stepback/internal/ownerfs"
	"stepback/internal/pebbleguard"
)

// Repaired reports what Repair has saved and what it has not.
type Repaired struct {
	// Records is the number of records read and kept. Executions counts the executions that are complete.
	Records, Executions int
	// Dropped counts executions and Map Runs of which a part could not be read. Unreadable counts the places where
	// the store could not be read.
	Dropped, Unreadable int
	// Aside is the new path of the damaged directory.
	Aside string
}

// Repair builds a new store from the intact data of the store in dir, which no other process may have open, and
// replaces the old one with it; the damaged store is moved aside unchanged. It calls tell for each thing that it
// cannot save. A store whose manifest or format cannot be read is not repaired: Repair returns the error of opening
// it and changes nothing.
func Repair(ctx context.Context, dir string, tell func(error)) (found Repaired, err error) {
	o := Config{FS: ownerfs.System, Retention: -1}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	old := &Journal{dir: dir, space: newSpace(dir, &o)}
	reading := o
	reading.ReadOnly = true
	if old.db, err = openStore(dir, old.options(&reading, cache)); err != nil {
		return found, openError(dir, true, err)
	}
	defer func() { err = errors.Join(err, old.closeRead()) }()
	if v, err := old.version(); err != nil || v < withoutIndexes {
		return found, errors.Join(err, old.withDir(fmt.Errorf("its format, %d, cannot be repaired", v)))
	}
	fresh := dir + ".repaired"
	if err := os.RemoveAll(fresh); err != nil {
		return found, err
	}
	r := &repair{old: old, tell: tell, found: &found}
	if err := r.rebuildInto(ctx, fresh, o, cache); err != nil {
		return found, errors.Join(err, os.RemoveAll(fresh))
	}
	found.Aside = dir + time.Now().UTC().Format(".damaged-20060102T150405.000000Z")
	if err := os.Rename(dir, found.Aside); err != nil {
		return found, err
	}
	return found, os.Rename(fresh, dir)
}

// closeRead closes a store that was only read. Damage in it has been reported already.
func (j *Journal) closeRead() error {
	if err := j.db.Close(); err != nil && !pebble.IsCorruptionError(err) {
		return err
	}
	return nil
}

type repair struct {
	old   *Journal
	fresh *Journal
	tell  func(error)
	found *Repaired
	arns  []string // ARNs of executions of which any record was readable, in key order
}

// rebuildInto writes the intact data into a new store and completes it.
func (r *repair) rebuildInto(ctx context.Context, dir string, o Config, cache *pebble.Cache) error {
	r.fresh = &Journal{dir: dir, space: newSpace(dir, &o)}
	db, err := openStore(dir, r.fresh.options(&o, cache))
	if err != nil {
		return openError(dir, false, err)
	}
	r.fresh.db = db
	if err := r.copyAll(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	if err := r.dropHalves(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	// the index and the ends are derived from the rest; the resulting store has the current format
	return errors.Join(r.fresh.rebuildIndex(), r.fresh.rebuildEnds(), db.Flush(), db.Close())
}

// derived reports whether a key can be rebuilt from other stored keys.
func derived(key []byte) bool {
	for _, prefix := range [...]string{indexPrefix, endPrefix} {
		if bytes.HasPrefix(key, []byte(prefix)) {
			return true
		}
	}
	return string(key) == indexedKey || string(key) == groupsKey || string(key) == versionKey
}

// copyAll copies every readable key.
func (r *repair) copyAll(ctx context.Context) error {
	b := r.fresh.db.NewBatch()
	defer func() { _ = b.Close() }()
	keep := func(key, value []byte) error {
		if derived(key) {
			return ctx.Err()
		}
		r.found.Records++
		if name, ok := bytes.CutPrefix(key, []byte(historyPrefix)); ok {
			r.arns = append(r.arns, string(name))
		}
		if err := b.Set(key, value, nil); err != nil {
			return err
		}
		if b.Len() < groupBytes {
			return nil
		}
		if err := b.Commit(pebble.NoSync); err != nil {
			return err
		}
		b.Reset()
		return ctx.Err()
	}
	var last []byte
	for {
		bad, err := r.readFrom(&last, keep)
		if err != nil {
			return err
		}
		if bad == nil {
			return b.Commit(pebble.Sync)
		}
		r.found.Unreadable++
		r.tell(fmt.Errorf("the value of the key %q cannot be read: %w", last, firstLineError(bad)))
		if !r.skip(&last, keep) {
			return b.Commit(pebble.Sync)
		}
	}
}

// readFrom reads the keys after *last. bad is the reason why it could not continue reading; err is an error of
// keep.
func (r *repair) readFrom(last *[]byte, keep func(key, value []byte) error) (bad, err error) {
	it, err := r.old.db.NewIter(&pebble.IterOptions{LowerBound: append(slices.Clone(*last), 0)})
	if err != nil {
		return err, nil
	}
	defer it.Close()
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err, nil
		}
		if err := keep(it.Key(), value); err != nil {
			return nil, err
		}
		*last = append((*last)[:0], it.Key()...)
	}
	return it.Error(), nil
}

// skip continues after an unreadable part: it finds the nearest readable key and reads back from there as far as
// possible. It returns false if there is nothing more.
func (r *repair) skip(last *[]byte, keep func(key, value []byte) error) bool {
	for next := range r.candidates(*last) {
		it, err := r.old.db.NewIter(nil)
		if err != nil {
			return false
		}
		if !it.SeekGE(next) {
			ended := it.Error() == nil
			_ = it.Close() // reported already
			if ended {
				return false
			}
			continue
		}
		to := slices.Clone(it.Key())
		for it.Prev(); it.Valid() && bytes.Compare(it.Key(), *last) > 0; it.Prev() {
			value, err := it.ValueAndErr()
			if err != nil || keep(it.Key(), value) != nil {
				break
			}
		}
		_ = it.Close() // reported already
		// the key that was found is read again, as the first one after this
		*last = justBefore(to)
		return true
	}
	return false
}

// candidates yields keys after last from which reading may continue: the successors of last's prefixes, and the
// keys of executions that have other readable entries.
func (r *repair) candidates(last []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for n := len(last); n > 1; n-- {
			if next := prefixEnd(last[:n]); next != nil && !yield(next) {
				return
			}
		}
		for _, prefix := range [...]string{
			definitionPrefix, ofPrefix, mapRunPrefix, stepPrefix, endPrefix, executionPrefix,
		} {
			if prefix > string(last) && !yield([]byte(prefix)) {
				return
			}
			for _, arn := range r.arns {
				if next := prefix + arn; next > string(last) && !yield([]byte(next)) {
					return
				}
			}
		}
	}
}

// justBefore returns a key directly before key. Every other stored key that sorts before key also sorts before the
// result.
func justBefore(key []byte) []byte {
	before := slices.Clone(key[:len(key)-1])
	if c := key[len(key)-1]; c > 0 {
		before = append(before, c-1)
		before = append(before, bytes.Repeat([]byte{0xFF}, 64)...)
	}
	return before
}

// dropHalves removes incomplete executions and entries that belong to none.
func (r *repair) dropHalves(ctx context.Context) error {
	b := r.fresh.db.NewBatch()
	defer b.Close()
	whole := map[string]bool{}
	c := &checker{j: r.fresh, ctx: ctx, tell: r.tell}
	for it, err := range r.fresh.scan(ctx, executionPrefix) {
		if err != nil {
			return err
		}
		arn := string(it.Key()[len(executionPrefix):])
		if why := c.execution(arn, it.Value()); why != nil {
			r.drop(why)
			continue
		}
		r.found.Executions++
		whole[arn] = true
	}
	for it, err := range r.fresh.scan(ctx, "") {
		if err != nil {
			return err
		}
		key := string(it.Key())
		keep := true
		switch prefix, name, _ := strings.Cut(key, "/"); prefix + "/" {
		case executionPrefix, historyPrefix, eventsPrefix:
			keep = whole[name]
		case stepPrefix:
			arn, ok := stepOf(it.Key())
			keep = ok && whole[arn]
		case mapRunPrefix:
			m, err := unpack(it.Value(), key, journal.DecodeMapRun)
			if keep = err == nil && whole[m.Execution]; !keep {
				r.drop(fmt.Errorf("the Map Run %s, or its execution, is damaged", name))
			}
		case definitionPrefix:
			_, err := unpack(it.Value(), key, func(raw []byte) (*journal.Definition, error) {
				return journal.DecodeDefinition(name, raw)
			})
			if keep = err == nil; !keep {
				r.drop(err)
			}
		}
		if !keep {
			if err := b.Delete(it.Key(), nil); err != nil {
				return err
			}
		}
	}
	return b.Commit(pebble.Sync)
}

func (r *repair) drop(why error) {
	r.found.Dropped++
	r.tell(why)
}

// rebuildEnds rebuilds the list of ends used for retention and drops references to missing Map Runs.
func (j *Journal) rebuildEnds() error {
	b := j.db.NewBatch()
	defer b.Close()
	e := &encoder{}
	for it, err := range j.walk(executionPrefix) {
		if err != nil {
			return err
		}
		x, err := unpack(it.Value(), string(it.Key()), journal.DecodeListed)
		if err != nil {
			return err
		}
		if x.Ended() {
			e.reset()
			e.addEnd(x)
			if err := e.fill(b); err != nil {
				return err
			}
		}
	}
	for it, err := range j.walk(ofPrefix) {
		if err != nil {
			return err
		}
		_, arn, _ := strings.Cut(string(it.Key()), "\x00")
		if _, err := read(j, mapRunPrefix, arn, journal.DecodeMapRun); errors.Is(err, journal.ErrNotFound) {
			if err := b.Delete(it.Key(), nil); err != nil {
				return err
			}
		}
	}
	return pebbleguard.Call(func() error { return b.Commit(pebble.Sync) })
}
